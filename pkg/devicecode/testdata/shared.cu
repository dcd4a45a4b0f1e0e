// Shared memory of a kernel in relocatable code: its section takes no bytes.
__global__ void shared_memory(int* out) {
  __shared__ int part[4096];
  part[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = part[threadIdx.x ^ 1];
}
