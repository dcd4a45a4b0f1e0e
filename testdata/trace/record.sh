#!/bin/sh
# Records the traces in pkg/stage/execute/trace/testdata: run it on a machine with
# a GPU and CUDA 13.0, with the folder to write to as $1.
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
c++ -std=c++17 -O2 -fPIC -fvisibility=hidden -shared -static-libstdc++ -static-libgcc -fno-gnu-unique \
  -Wl,-Bsymbolic,--exclude-libs,ALL -I "$root/targets/x86_64-linux/include" ../../cuda_src/trace/trace.cpp -ldl -pthread -o "$work/trace.so"
nvcc -std=c++17 -gencode arch=compute_90,code=[sm_90,compute_90] -cudart shared launches.cu -o "$work/launches"
export CUDAPROOF_CUPTI="$root/targets/x86_64-linux/lib/libcupti.so" CUDA_INJECTION64_PATH="$work/trace.so"
for way in many capture graph cooperative ex threads abort exit kill child fork reload bad; do
  mkdir -p "$out/$way"
  CUDAPROOF_TRACE_DIR="$out/$way" "$work/launches" $way || echo "$way: exit code $?"
  # Of a file of 64 MiB only what is used is kept: its length is at offset 8.
  for file in "$out/$way"/*.trace; do
    truncate -s "$(od -A n -t u8 -j 8 -N 8 "$file" | tr -d ' ')" "$file"
  done
done
unset CUDA_INJECTION64_PATH
echo "a million launches, seconds without and with the trace:"
for n in 1 2 3 4 5 6 7 8; do
  plain=$("$work/launches" many 1000000 | head -n 1)
  mkdir "$work/$n"
  traced=$(CUDA_INJECTION64_PATH="$work/trace.so" CUDAPROOF_TRACE_DIR="$work/$n" "$work/launches" many 1000000 | head -n 1)
  echo "$plain $traced"
done
