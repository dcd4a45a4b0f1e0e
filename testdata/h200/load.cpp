// Loads a file of device code through the driver and launches its kernel:
// load FILE.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>

static void check(const char* call, CUresult error) {
  if (error == CUDA_SUCCESS) return;
  fprintf(stderr, "%s: error %d\n", call, static_cast<int>(error));
  exit(1);
}
#define CHECK(call) check(#call, call)

int main(int, char** argv) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction made;
  CUdeviceptr memory;
  int host = 0;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuMemAlloc(&memory, sizeof host));
  CHECK(cuModuleLoad(&module, argv[1]));
  CHECK(cuModuleGetFunction(&made, module, "made"));
  void* arguments[] = {&memory};
  CHECK(cuLaunchKernel(made, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuMemcpyDtoH(&host, memory, sizeof host));
  puts(host == 42 ? "PASS" : "FAIL");
  return host != 42;
}
