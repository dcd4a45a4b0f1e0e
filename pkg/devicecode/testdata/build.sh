#!/bin/sh
# Builds the files of cuda-11.8 with nvcc 11.8: build.sh FOLDER [NAME...]
# Nothing of the toolkit is linked in: cudart is shared or absent, cudadevrt
# absent. Names say what a file holds; c10 is case C10, and so on.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/*.cu "$work"
cd "$work"

g() { printf -- '-gencode arch=compute_%s,code=[%s]' "$1" "$2"; }
rdc() { nvcc -rdc=true -cudart shared -cudadevrt none "$@" device.cu main.cu; }
lib() { nvcc -cudart none -shared -Xcompiler -fPIC "$@"; }

# A library that carries device code of a KIND as read-only data, as programs do
# that load it through the driver. Nothing ends the PTX text.
embed() {
  kind=$1
  shift
  nvcc "$@" -"$kind" two.cu -o code
  printf '%s\n' '.section .rodata' '.string "before"' '.globl code' 'code: .incbin "code"' '.ascii "called unwrap() on a None value"' '.string "behind {"' >code.s
  gcc -shared -nostdlib code.s -o "c18_$kind.so"
}

build() {
  case $1 in
  c10_dlink_without_target)
    nvcc -dc $(g 80 sm_80) $(g 90 sm_90) device.cu main.cu
    nvcc -dlink -cudadevrt none device.o main.o -o link.o 2>/dev/null
    nvcc_root=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
    g++ device.o main.o link.o -L"$nvcc_root/lib64" -lcudart -o "$1" ;;
  c11_rdc_sm90_ptx90) rdc $(g 90 sm_90,compute_90) -o "$1" ;;
  c12_rdc_ptx90) rdc $(g 90 compute_90) -o "$1" ;;
  c13_archive.a)
    nvcc -c $(g 80 sm_80) two.cu -o short.o
    nvcc -c $(g 90 sm_90) never_launched.cu -o a_name_of_more_than_15.o
    ar rc "$1" short.o a_name_of_more_than_15.o ;;
  c15_lto80.o) nvcc -dc -gencode arch=compute_80,code=lto_80 device.cu -o "$1" ;;
  c17_sm75_sm90.so) lib $(g 75 sm_75) $(g 90 sm_90) never_launched.cu -o "$1" ;;
  c18_fatbin.so) embed fatbin $(g 80 sm_80,compute_80) ;;
  c18_cubin.so) embed cubin -arch=sm_80 ;;
  c18_ptx.so) embed ptx -arch=compute_80 ;;
  c18_renamed.so)
    lib $(g 80 sm_80,compute_80) two.cu -o "$1"
    objcopy --rename-section .nv_fatbin=.gpu_code --rename-section .nvFatBinSegment=.gpu_records "$1" ;;
  c19_none.so) lib $(g 80 sm_80,compute_80) -no-compress two.cu -o "$1" ;;
  c19_default.so) lib $(g 80 sm_80,compute_80) two.cu -o "$1" ;;
  c19_all.so) lib $(g 80 sm_80,compute_80) -Xfatbin -compress-all two.cu -o "$1" ;;
  c24_stub) nvcc -arch=sm_80 -c two.cu && nvcc -cudart shared two.o -o "$1" ;;
  c25_*.cubin) target=${1%.cubin} && nvcc -arch=sm_"${target#c25_}" -cubin traps.cu -o "$1" ;;
  c25_traps.so) lib $(g 75 sm_75) $(g 80 sm_80,compute_80) traps.cu -o "$1" ;;
  c29_variables80.so) lib $(g 80 sm_80,compute_80) variables.cu -o "$1" ;;
  names80.so) lib $(g 80 sm_80,compute_80) names.cu -o "$1" ;;
  shared80.o) nvcc -dc $(g 80 sm_80,compute_80) shared.cu -o "$1" ;;
  relocatable80.o) nvcc -dc $(g 80 sm_80,compute_80) main.cu -o "$1" ;;
  virtual80_sm86.cubin) nvcc -arch=compute_80 -code=sm_86 -cubin two.cu -o "$1" ;;
  sm90.cubin) nvcc -arch=sm_90 -cubin two.cu -o "$1" ;;
  sm80_ptx80.fatbin) nvcc $(g 80 sm_80,compute_80) -fatbin two.cu -o "$1" ;;
  compute80.ptx) nvcc -arch=compute_80 -ptx names.cu -o "$1" ;;
  *) echo "build.sh: $1 is not known" >&2; exit 1 ;;
  esac
  case $1 in
  *.so | c10_* | c11_* | c12_* | c24_*) strip "$1" ;;
  esac
  mv "$1" "$out/"
}

[ $# -gt 0 ] || set -- c10_dlink_without_target c11_rdc_sm90_ptx90 c12_rdc_ptx90 c13_archive.a c15_lto80.o \
  c17_sm75_sm90.so c18_fatbin.so c18_cubin.so c18_ptx.so c18_renamed.so c19_none.so c19_default.so c19_all.so c24_stub c25_75.cubin c25_80.cubin c25_90.cubin c25_traps.so c29_variables80.so names80.so \
  relocatable80.o shared80.o virtual80_sm86.cubin sm90.cubin sm80_ptx80.fatbin compute80.ptx
for name; do build "$name"; done
