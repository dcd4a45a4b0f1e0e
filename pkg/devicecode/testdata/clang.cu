// Two kernels for Clang, which needs these declarations and no CUDA header.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
struct dim3 {
  unsigned x, y, z;
};
typedef struct CUstream_st *cudaStream_t;
enum cudaError_t { cudaSuccess };
extern "C" cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, unsigned long, cudaStream_t);

__device__ int counted = 3;
__global__ void seven(int *p) { *p = 7 + counted; }
__global__ void nine(int *p) { *p = 9; }
