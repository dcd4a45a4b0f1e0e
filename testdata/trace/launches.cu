// Ways to launch a kernel and to end: what a trace of the process must show.
// launches WAY [COUNT [ELEMENTS]]
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <chrono>
#include <thread>
#include <unistd.h>
#include <sys/wait.h>
#include <vector>

extern "C" {
__global__ void counted(int *p) {
  if (p) *p = 1;
}
__global__ void other(int *p) {
  if (p) *p = 2;
}
__global__ void add(int *p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += i;
}
__global__ void together(int *p) {
  cooperative_groups::this_grid().sync();
  if (p) *p = 3;
}
}

#define CHECK(call)                                                                  \
  do {                                                                               \
    cudaError_t error_ = (call);                                                          \
    if (error_ != cudaSuccess) {                                                          \
      printf("FAIL %s: %d %s\n", #call, (int)error_, cudaGetErrorString(error_));              \
      exit(1);                                                                       \
    }                                                                                \
  } while (0)

static void many(long n, cudaStream_t s = nullptr) {
  for (long i = 0; i < n; i++) counted<<<1, 1, 0, s>>>(nullptr);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(s));
}

// small launches kernels that add to that many elements.
static void small(long n, int elements) {
  int *p;
  CHECK(cudaMalloc(&p, elements * sizeof(int)));
  CHECK(cudaMemset(p, 0, elements * sizeof(int)));
  auto t = std::chrono::steady_clock::now();
  for (long i = 0; i < n; i++) add<<<(elements + 255) / 256, 256>>>(p, elements);
  CHECK(cudaDeviceSynchronize());
  printf("%.4f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count());
}

// twins launches kernels of one name from three modules: this program's, that of
// twin.so (more often by one), and twin.cubin (by two).
static void twins(long n) {
  many(n);
  void *library = dlopen("./twin.so", RTLD_NOW);
  if (!library) exit(3);
  reinterpret_cast<void (*)(long)>(dlsym(library, "launch_twin"))(n + 1);
  CUmodule module;
  CUfunction twin;
  CUdeviceptr none = 0;
  void *args[] = {&none};
  if (cuModuleLoad(&module, "twin.cubin") || cuModuleGetFunction(&twin, module, "counted")) exit(4);
  for (long i = 0; i < n + 2; i++)
    if (cuLaunchKernel(twin, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr)) exit(5);
  CHECK(cudaDeviceSynchronize());
}

static void graphByCapture(long n) {
  cudaStream_t s;
  cudaGraph_t g;
  cudaGraphExec_t e;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  counted<<<1, 1, 0, s>>>(nullptr);
  counted<<<1, 1, 0, s>>>(nullptr);
  other<<<1, 1, 0, s>>>(nullptr);
  CHECK(cudaStreamEndCapture(s, &g));
  CHECK(cudaGraphInstantiateWithFlags(&e, g, 0));
  for (long i = 0; i < n; i++) CHECK(cudaGraphLaunch(e, s));
  CHECK(cudaStreamSynchronize(s));
}

static void graphByHand(long n) {
  cudaGraph_t g;
  cudaGraphExec_t e;
  cudaGraphNode_t node;
  int *p = nullptr;
  void *args[] = {&p};
  cudaKernelNodeParams params = {};
  params.func = (void *)other;
  params.gridDim = dim3(1);
  params.blockDim = dim3(1);
  params.kernelParams = args;
  CHECK(cudaGraphCreate(&g, 0));
  CHECK(cudaGraphAddKernelNode(&node, g, nullptr, 0, &params));
  CHECK(cudaGraphInstantiateWithFlags(&e, g, 0));
  for (long i = 0; i < n; i++) CHECK(cudaGraphLaunch(e, 0));
  CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "many";
  const long n = argc > 2 ? atol(argv[2]) : 5;
  if (!strcmp(way, "many")) {
    many(1); // context and module
    auto t = std::chrono::steady_clock::now();
    many(n);
    printf("%.4f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count());
  } else if (!strcmp(way, "small")) {
    small(n, argc > 3 ? atoi(argv[3]) : 65536);
  } else if (!strcmp(way, "twins")) {
    twins(n);
  } else if (!strcmp(way, "capture")) {
    graphByCapture(n);
  } else if (!strcmp(way, "graph")) {
    graphByHand(n);
  } else if (!strcmp(way, "cooperative")) {
    int *p = nullptr;
    void *args[] = {&p};
    for (long i = 0; i < n; i++) CHECK(cudaLaunchCooperativeKernel((void *)together, 1, 1, args, 0, nullptr));
    CHECK(cudaDeviceSynchronize());
  } else if (!strcmp(way, "ex")) {
    cudaLaunchConfig_t c = {};
    c.gridDim = c.blockDim = dim3(1);
    for (long i = 0; i < n; i++) CHECK(cudaLaunchKernelEx(&c, other, (int *)nullptr));
    CHECK(cudaDeviceSynchronize());
  } else if (!strcmp(way, "threads")) {
    many(1);
    std::vector<std::thread> all;
    for (int i = 0; i < 8; i++) all.emplace_back([n] { many(n); });
    for (auto &t : all) t.join();
  } else if (!strcmp(way, "abort")) {
    many(n);
    abort();
  } else if (!strcmp(way, "exit")) {
    many(n);
    _exit(0);
  } else if (!strcmp(way, "kill")) {
    many(n);
    kill(getpid(), 9);
  } else if (!strcmp(way, "child")) {
    if (fork() == 0) {
      execl("/proc/self/exe", "launches", "many", "3", (char *)nullptr);
      _exit(127);
    }
    int status;
    wait(&status);
    many(n);
  } else if (!strcmp(way, "fork")) {
    many(n);
    if (fork() == 0) _exit(0); // without CUDA: nothing may be added
    int status;
    wait(&status);
  } else if (!strcmp(way, "reload")) {
    // Contexts and modules come and go, and with them the handles of functions.
    for (long i = 0; i < n; i++) {
      many(1);
      CHECK(cudaDeviceReset());
      other<<<1, 1>>>(nullptr);
      CHECK(cudaDeviceSynchronize());
      CHECK(cudaDeviceReset());
    }
  } else if (!strcmp(way, "bad")) {
    for (long i = 0; i < n; i++) counted<<<1, 4096>>>(nullptr);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    many(1);
  } else {
    printf("unknown way\n");
    return 2;
  }
  printf("PASS\n");
  return 0;
}
