__device__ int seven() { return 7; }
