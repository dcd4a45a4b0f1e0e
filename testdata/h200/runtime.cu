// A kernel of its own, and one that NVRTC compiles at run time: to PTX, or with
// -DTO_CUBIN to machine code (case C08).
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <cstdlib>
#include <string>

__global__ void write_answer(int* out) { *out = 42; }

static void check(const char* call, long error) {
  if (error == 0) return;
  fprintf(stderr, "%s: error %ld\n", call, error);
  exit(1);
}
#define CHECK(call) check(#call, static_cast<long>(call))

static std::string compile() {
  const char* source = "extern \"C\" __global__ void made(int* out) { *out += 1; }";
  nvrtcProgram program;
  CHECK(nvrtcCreateProgram(&program, source, "made.cu", 0, nullptr, nullptr));
  size_t size = 0;
#ifdef TO_CUBIN
  const char* options[] = {"--gpu-architecture=sm_90"};
  CHECK(nvrtcCompileProgram(program, 1, options));
  CHECK(nvrtcGetCUBINSize(program, &size));
  std::string code(size, '\0');
  CHECK(nvrtcGetCUBIN(program, &code[0]));
#else
  const char* options[] = {"--gpu-architecture=compute_90"};
  CHECK(nvrtcCompileProgram(program, 1, options));
  CHECK(nvrtcGetPTXSize(program, &size));
  std::string code(size, '\0');
  CHECK(nvrtcGetPTX(program, &code[0]));
#endif
  return code;
}

int main() {
  int* device = nullptr;
  int host = 0;
  CHECK(cudaMalloc(&device, sizeof *device));
  write_answer<<<1, 1>>>(device);
  CHECK(cudaGetLastError());
  CUmodule module;
  CUfunction made;
  const std::string code = compile();
  CHECK(cuModuleLoadData(&module, code.data()));
  CHECK(cuModuleGetFunction(&made, module, "made"));
  void* arguments[] = {&device};
  CHECK(cuLaunchKernel(made, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
  puts(host == 43 ? "PASS" : "FAIL");
  return host != 43;
}
