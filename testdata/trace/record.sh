#!/bin/sh
# Records the traces in pkg/stage/execute/trace/testdata: run it on a machine with
# a GPU and CUDA 13.0, with the folder to write to as $1. With "overhead" as $2 it
# measures what the trace costs, which takes three minutes.
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
c++ -std=c++17 -O2 -fPIC -fvisibility=hidden -fno-exceptions -fno-rtti -shared -static-libstdc++ -static-libgcc -fno-gnu-unique \
  -Wl,-Bsymbolic,--exclude-libs,ALL -Wl,--no-as-needed -l:libdl.so.2 \
  -I "$root/targets/x86_64-linux/include" ../../cuda_src/trace/trace.cpp -o "$work/trace.so"
nvcc -std=c++17 -gencode arch=compute_90,code=[sm_90,compute_90] -cudart shared launches.cu -lcuda -ldl -o "$work/launches"
nvcc -gencode arch=compute_90,code=sm_90 -cudart shared -shared -Xcompiler -fPIC -Xlinker -Bsymbolic twin.cu -o "$work/twin.so"
nvcc -arch=sm_90 -cubin twin.cu -o "$work/twin.cubin"
export CUDAPROOF_CUPTI="$root/targets/x86_64-linux/lib/libcupti.so" CUDA_INJECTION64_PATH="$work/trace.so"
# The trace must make no errors of its own: what is printed below is of way bad.
export CUDA_LOG_FILE="$work/driver.log"
for way in many capture graph cooperative ex threads abort exit kill child fork reload bad twins; do
  mkdir -p "$out/$way"
  (cd "$work" && CUDAPROOF_TRACE_DIR="$out/$way" ./launches $way) || echo "$way: exit code $?"
  # Of a file of 64 MiB only what is used is kept: its length is at offset 8.
  for file in "$out/$way"/*.trace; do
    truncate -s "$(od -A n -t u8 -j 8 -N 8 "$file" | tr -d ' ')" "$file"
  done
done
sort -u -k 2 "$CUDA_LOG_FILE" | grep Returning
[ "${2-}" = overhead ] || exit 0
unset CUDA_INJECTION64_PATH CUDA_LOG_FILE
# Pinned to one core; without and with the trace in turn.
for way in "many 1000000" "small 1000000 65536" "small 200000 8388608"; do
  echo "$way: seconds without and with the trace"
  for n in 1 2 3 4 5 6; do
    plain=$(taskset -c 2 "$work/launches" $way | head -n 1)
    rm -rf "$work/dir" && mkdir "$work/dir"
    traced=$(CUDA_INJECTION64_PATH="$work/trace.so" CUDAPROOF_TRACE_DIR="$work/dir" taskset -c 2 "$work/launches" $way | head -n 1)
    echo "$plain $traced"
  done
done
