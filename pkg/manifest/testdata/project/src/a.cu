__global__ void a(int *out) { *out = 1; }
