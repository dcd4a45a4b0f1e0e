namespace ns {
template <class T> __global__ void saxpy(T *p) { *p = 7; }
template __global__ void saxpy<float>(float *);
}
__device__ __noinline__ int dev(int x) { return x * 3 + clock(); }
__global__ void three(int *p) { *p = dev(2); }
