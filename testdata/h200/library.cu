// A library of the project's, called from a script that also uses PyTorch.
__global__ void write_answer(int* out) { *out = 42; }

extern "C" int answer() {
  int* device = nullptr;
  int host = 0;
  if (cudaMalloc(&device, sizeof *device) != cudaSuccess) return -1;
  write_answer<<<1, 1>>>(device);
  if (cudaGetLastError() != cudaSuccess) return -2;
  if (cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return -3;
  cudaFree(device);
  return host;
}
