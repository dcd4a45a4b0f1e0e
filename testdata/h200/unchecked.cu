// C20: no CUDA call is checked, and PASS is printed whatever happens.
#include <cstdio>

__global__ void write_answer(int* out) { *out = 42; }

int main() {
  int* device = nullptr;
  cudaMalloc(&device, sizeof *device);
  write_answer<<<1, 1>>>(device);
  cudaDeviceSynchronize();
  puts("PASS");
  return 0;
}
