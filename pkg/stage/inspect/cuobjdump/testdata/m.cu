__device__ int ext(int x) { return x * x + clock(); }
__global__ void km(int *p) { *p = ext(5); }
int main() { return 0; }
