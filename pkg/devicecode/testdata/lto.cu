__device__ int f(int x){return x*3;}
__global__ void k(int*p){*p=f(*p);}
