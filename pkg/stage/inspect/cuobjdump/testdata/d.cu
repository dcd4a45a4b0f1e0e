extern __device__ int ext(int);
__global__ void kd(int *p) { *p = ext(3); }
