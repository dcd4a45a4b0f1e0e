// One thread writes an integer; the host checks it and every CUDA call.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                      \
  do {                                                                   \
    cudaError_t error = (call);                                          \
    if (error != cudaSuccess) {                                          \
      fprintf(stderr, "%s: error %d, %s\n", #call,                       \
              static_cast<int>(error), cudaGetErrorString(error));       \
      exit(1);                                                           \
    }                                                                    \
  } while (0)

#ifdef SEPARATE  // the value comes from another translation unit: needs -rdc
extern __device__ int answer();
#else
#if defined(DISAGREE) && __CUDA_ARCH__ == 900
__device__ int answer() { return 41; }  // case C21: the machine code is wrong
#else
__device__ int answer() { return 42; }
#endif
#endif

__global__ void write_answer(int* out) {
#if defined(REFUSED) && __CUDA_ARCH__ < 900
  asm volatile("cp.async.bulk.commit_group;");  // case C07: needs sm_90, and ptxas never saw it
#endif
  *out = answer();
}

int main() {
  int* device = nullptr;
  int host = 0;
  CHECK(cudaMalloc(&device, sizeof *device));
  CHECK(cudaMemset(device, 0, sizeof *device));
  write_answer<<<1, 1>>>(device);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
  puts(host == 42 ? "PASS" : "FAIL");
  return host != 42;
}
