__global__ void b(int *out) { *out = 2; }
