#!/bin/sh
# C10: the device link is run without the targets of the compile step. nvcc
# warns, exits 0, and leaves an empty image of its default target.
set -eu
mkdir -p build
nvcc -dc -DSEPARATE -gencode 'arch=compute_90,code=[sm_90,compute_90]' -o build/lost_answer.o answer.cu
nvcc -dc -gencode 'arch=compute_90,code=[sm_90,compute_90]' -o build/lost_separate.o separate.cu
nvcc -dlink build/lost_answer.o build/lost_separate.o -o build/lost_link.o
g++ build/lost_answer.o build/lost_separate.o build/lost_link.o \
  -L"$(dirname "$(command -v nvcc)")/../lib64" -lcudart_static -lcudadevrt -ldl -lrt -lpthread -o build/rdc_lost_link
