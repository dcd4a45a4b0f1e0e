#!/bin/sh
# Builds the files of clang-19 with Clang 19 and the ptxas and fatbinary of CUDA
# 11.8: clang.sh FOLDER. Nothing of the toolkit is linked in.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Clang wants a toolkit in one folder.
mkdir -p "$work/cuda/bin" "$work/cuda/nvvm/libdevice" "$work/cuda/include" "$work/cuda/lib64"
for tool in ptxas fatbinary; do ln -s "$(readlink -f "$(command -v $tool)")" "$work/cuda/bin/"; done
# It takes the version from cuda.h, and wants some libdevice to be there.
ln -s /usr/include/cuda.h "$work/cuda/include/"
touch "$work/cuda/nvvm/libdevice/libdevice.10.bc"
cd "$work"
cp "$here/clang.cu" .
build() {
  clang++-19 -x cuda --cuda-path="$work/cuda" --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -O1 "$@" clang.cu
}
build --cuda-include-ptx=all -c -o whole80.o
build --cuda-include-ptx=all -fgpu-rdc -c -o rdc80.o
build --cuda-include-ptx=all -shared -fPIC -nostdlib -o whole80.so
strip whole80.so
build --offload-new-driver -fgpu-rdc -c -o offload80.o
build --offload-new-driver -fgpu-rdc -foffload-lto -c -o bitcode80.o
mv ./*80* "$out/"
