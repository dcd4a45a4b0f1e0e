// One thread writes an integer, and the host checks it. Every CUDA call is
// checked: a program that does not look would pass without any GPU code.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                        \
  do {                                                                     \
    cudaError_t error = (call);                                            \
    if (error != cudaSuccess) {                                            \
      fprintf(stderr, "%s:%d: %s: error %d, %s\n", __FILE__, __LINE__,     \
              #call, static_cast<int>(error), cudaGetErrorString(error));  \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

__global__ void write_answer(int* out) { *out = 42; }

int main() {
  int* device = nullptr;
  int host = 0;
  CHECK(cudaMalloc(&device, sizeof *device));
  CHECK(cudaMemset(device, 0, sizeof *device));
  write_answer<<<1, 1>>>(device);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
  if (host != 42) {
    fprintf(stderr, "expected 42, got %d\n", host);
    return 1;
  }
  puts("PASS");
  return 0;
}
