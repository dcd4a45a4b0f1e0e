// A fake of libcuda and CUPTI: no GPU, no driver. Its scenario calls the trace
// library back as CUPTI does, many times over, so that what the library keeps
// and writes can be checked on any machine. It is built as libcuda.so.1.

#include <cupti.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static CUpti_CallbackFunc callback;
static int contextTag;
static CUcontext const context = reinterpret_cast<CUcontext>(&contextTag);

// A handle of a function tells its module's handle: 64 functions each.
constexpr uintptr_t functionBase = 0x10000000, moduleBase = 0x5000;
static CUmodule moduleHandle(int slot) { return reinterpret_cast<CUmodule>(moduleBase + uintptr_t(slot) * 16); }
static CUfunction functionHandle(int slot, int i) { return reinterpret_cast<CUfunction>(functionBase + uintptr_t(slot) * 1024 + uintptr_t(i) * 16); }

extern "C" {
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *, CUpti_CallbackFunc f, void *) { return callback = f, CUPTI_SUCCESS; }
CUptiResult cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId) { return CUPTI_SUCCESS; }
CUptiResult cuptiGetVersion(uint32_t *version) { return *version = 18, CUPTI_SUCCESS; }
CUptiResult cuptiGetDeviceId(CUcontext, uint32_t *id) { return *id = 0, CUPTI_SUCCESS; }
CUptiResult cuptiGetContextId(CUcontext, uint32_t *id) { return *id = 1, CUPTI_SUCCESS; }
CUresult cuDriverGetVersion(int *version) { return *version = 11080, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *device, int) { return *device = 0, CUDA_SUCCESS; }
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice) {
    for (int i = 0; i < 16; i++) uuid->bytes[i] = static_cast<char>(0xf0 + i);
    return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult, const char **name) { return *name = "CUDA_ERROR_FAKE", CUDA_SUCCESS; }
CUresult cuFuncGetModule(CUmodule *module, CUfunction f) {
    return *module = moduleHandle(static_cast<int>((reinterpret_cast<uintptr_t>(f) - functionBase) / 1024)), CUDA_SUCCESS;
}
// The graph has function 0 of slot 2 and a child with twice function 1 of it.
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    *count = 2;
    if (nodes) nodes[0] = reinterpret_cast<CUgraphNode>(reinterpret_cast<uintptr_t>(graph) + 1), nodes[1] = reinterpret_cast<CUgraphNode>(reinterpret_cast<uintptr_t>(graph) + 2);
    return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
    return *type = reinterpret_cast<uintptr_t>(node) == 0x102 ? CU_GRAPH_NODE_TYPE_GRAPH : CU_GRAPH_NODE_TYPE_KERNEL, CUDA_SUCCESS;
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode, CUgraph *graph) { return *graph = reinterpret_cast<CUgraph>(0x200), CUDA_SUCCESS; }
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params) {
    return params->func = functionHandle(2, reinterpret_cast<uintptr_t>(node) < 0x200 ? 0 : 1), CUDA_SUCCESS;
}
}

static void call(CUpti_CallbackId id, const char *function, const void *params, const char *symbol, void (*inside)(const void *), const void *argument, CUresult result = CUDA_SUCCESS) {
    CUpti_CallbackData data = {};
    data.functionName = function, data.functionParams = params, data.functionReturnValue = &result;
    data.symbolName = symbol, data.context = context, data.contextUid = 1;
    data.callbackSite = CUPTI_API_ENTER;
    callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
    if (inside) inside(argument);
    data.callbackSite = CUPTI_API_EXIT;
    callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

static void resource(CUpti_CallbackIdResource id, void *descriptor) {
    CUpti_ResourceData data = {};
    data.context = context, data.resourceDescriptor = descriptor;
    callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

// load loads a module into a slot, whose image is its number.
static void load(int slot, uint32_t number) {
    char image[32];
    CUpti_ModuleResourceData module = {number, static_cast<size_t>(std::sprintf(image, "module %u", number)), image};
    CUmodule handle = moduleHandle(slot);
    cuModuleLoadData_params params = {&handle, image};
    call(CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData, "cuModuleLoadData", &params, nullptr,
         [](const void *m) { resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, const_cast<void *>(m)); }, &module);
}

static void unload(uint32_t number) {
    CUpti_ModuleResourceData module = {number, 0, nullptr};
    resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, &module);
}

static void get(int slot, int i) {
    CUfunction f = functionHandle(slot, i);
    cuModuleGetFunction_params params = {&f, moduleHandle(slot), ""};
    call(CUPTI_DRIVER_TRACE_CBID_cuModuleGetFunction, "cuModuleGetFunction", &params, nullptr, nullptr, nullptr);
}

static void launch(int slot, int i, CUresult result = CUDA_SUCCESS) {
    char name[32];
    std::sprintf(name, "k%d_%d", slot, i);
    cuLaunchKernel_params params = {};
    params.f = functionHandle(slot, i);
    call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel", &params, name, nullptr, nullptr, result);
}

extern "C" int scenario() {
    void *trace = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_LOCAL);
    if (!trace) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    reinterpret_cast<int (*)()>(dlsym(trace, "InitializeInjection"))();
    if (!callback) return std::fprintf(stderr, "the trace library did not subscribe\n"), 1;
    resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, nullptr);
    // 300 modules of 10 kernels, the ith launched i + 1 times.
    for (int slot = 0; slot < 300; slot++) {
        load(slot, static_cast<uint32_t>(slot) + 1);
        for (int i = 0; i < 10; i++) {
            get(slot, i);
            for (int n = 0; n <= i; n++) launch(slot, i);
        }
    }
    // Every other is unloaded; slot 1 is used again for another.
    for (int slot = 1; slot < 300; slot += 2) unload(static_cast<uint32_t>(slot) + 1);
    load(1, 301);
    get(1, 0);
    for (int slot = 0; slot < 300; slot += 2) launch(slot, 9);
    launch(1, 0);
    for (int n = 0; n < 3; n++) launch(0, 0, CUDA_ERROR_NO_BINARY_FOR_GPU);
    launch(2, 0), launch(2, 1); // this driver does not tell names: they are known from launches
    CUpti_GraphData graph = {};
    graph.graph = reinterpret_cast<CUgraph>(0x100), graph.graphExec = reinterpret_cast<CUgraphExec>(0x300);
    resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, &graph);
    cuGraphLaunch_params params = {graph.graphExec, nullptr};
    for (int n = 0; n < 5; n++) call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, "cuGraphLaunch", &params, nullptr, nullptr, nullptr);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([] {
            for (int n = 0; n < 10000; n++) launch(4, n % 2);
        });
    for (auto &t : threads) t.join();
    return 0;
}
