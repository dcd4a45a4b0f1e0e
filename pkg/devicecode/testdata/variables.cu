// Variables and no kernel: the module is needed for cudaMemcpyToSymbol.
__constant__ int table[4] = {1, 2, 3, 4};
__device__ int counter;
