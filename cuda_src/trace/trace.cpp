// Records what a process does with CUDA: the modules that the driver loads, the
// kernels that are launched, what loads and launches return. It is a CUPTI client
// that the driver loads into every process that uses CUDA, by
// CUDA_INJECTION64_PATH. It writes into the folder that CUDAPROOF_TRACE_DIR names:
//
//   PID-N.trace         one file for each process, mapped while it runs
//   PID-N-M.image       the Mth module as the driver loaded it
//
// N tells processes of one number apart. The layout of a .trace file is that of
// struct Header and of the records below, little-endian; pkg/stage/execute/trace reads it.
// Counters are in the mapped file, so what was counted is there however the
// process ends: nothing is flushed, and nothing is formatted at a launch.
//
//   c++ -std=c++17 -O2 -fPIC -fvisibility=hidden -fno-exceptions -fno-rtti -shared -static-libstdc++ -static-libgcc
//       -fno-gnu-unique -Wl,-Bsymbolic,--exclude-libs,ALL -Wl,--no-as-needed -l:libdl.so.2
//       -I CUPTI/include trace.cpp -o libcudaproof-trace.so
//
// libcupti and libcuda are found at run time: the ones that the process uses.

#include "containers.h"

#include <cupti.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// glibc 2.34 moved the functions of libdl to a new version; the old one is kept
// beside it and is all that a program of an older glibc has.
#if defined __x86_64__
#define OLD_GLIBC "GLIBC_2.2.5"
#elif defined __aarch64__
#define OLD_GLIBC "GLIBC_2.17"
#endif
#ifdef OLD_GLIBC
__asm__(".symver dlopen, dlopen@" OLD_GLIBC);
__asm__(".symver dlsym, dlsym@" OLD_GLIBC);
__asm__(".symver dlerror, dlerror@" OLD_GLIBC);
#endif

namespace {

// Kinds of records. Text ends in a zero byte; lists are one text after another.
enum Kind : uint32_t {
    Process = 1,  // text: executable
    Variable = 2, // text: NAME=VALUE as the process sees it, or NAME alone where it is not set
    Context = 3,  // u32 uid, text: the device's UUID, empty where it is not known
    Module = 4,   // u32 id, u32 context uid, u64 size, text: name of the image file, empty where it could not be written
    Kernel = 5,   // u64 launches, u64 launches by graphs, u32 context uid, u32 module, text: mangled name
    Failure = 6,  // u64 count, i32 CUresult, text: function, text: name of the result
    Library = 7,  // text: path of a mapped file
    Notice = 8,   // text: what could not be recorded
    Versions = 9, // u32 CUPTI's, i32 CUDA's as the driver library says it
};
// The module of a kernel is the number of its Module record in the file, counted
// from 1; 0 where it is not known.

struct Header {
    char magic[8]; // "CPTRACE1"
    std::atomic<uint64_t> used; // bytes of the file that hold header and records
    std::atomic<uint64_t> lost; // records for which there was no room
    uint64_t pid;
};
static_assert(sizeof(Header) == 32, "the reader knows this layout");

struct Record {
    uint32_t kind;
    uint32_t size; // of the whole record, a multiple of 8
};

constexpr uint64_t fileSize = 64 << 20; // sparse: what is not used takes no room
constexpr uint64_t maxImages = 8ull << 30;

// Counter of a kernel record, in the mapped file.
struct Counter {
    std::atomic<uint64_t> launches, graphLaunches;
};

struct Functions {
    decltype(&cuptiSubscribe) subscribe;
    decltype(&cuptiEnableCallback) enable;
    decltype(&cuptiGetVersion) version;
    decltype(&cuptiGetDeviceId) deviceId;
    decltype(&cuptiGetContextId) contextId;
    CUresult (*driverVersion)(int *);
    CUresult (*deviceGet)(CUdevice *, int);
    CUresult (*deviceUUID)(CUuuid *, CUdevice);
    CUresult (*instanceUUID)(CUuuid *, CUdevice); // of the MIG instance, where the device is one; since 11.4
    CUresult (*errorName)(CUresult, const char **);
    CUresult (*isCapturing)(CUstream, CUstreamCaptureStatus *);
    CUresult (*graphNodes)(CUgraph, CUgraphNode *, size_t *);
    CUresult (*nodeType)(CUgraphNode, CUgraphNodeType *);
    CUresult (*childGraph)(CUgraphNode, CUgraph *);
    CUresult (*kernelParams)(CUgraphNode, void *);
    CUresult (*functionModule)(CUmodule *, CUfunction);
    CUresult (*kernelFunction)(CUfunction *, void *);    // since 12.0
    CUresult (*functionName)(const char **, CUfunction); // since 12.3
    CUresult (*kernelName)(const char **, void *);       // since 12.3
} api;

// All below is guarded by the mutex, except the counters.
struct State {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    char prefix[PATH_MAX] = {}; // of the files
    char *file = nullptr;
    Map<Counter *> kernels; // by function and context
    Map<char *> names;      // of functions that were launched
    Map<List<Counter *>> graphs;
    Map<std::atomic<uint64_t> *> failures; // by function and result
    Map<char *> libraries;                 // by hash of the path
    Map<bool> isKernel;                    // handles that the driver gave: of a CUkernel, else of a CUfunction
    Map<uint32_t> modules;                 // numbers by handle
    Map<uint32_t> loaded;                  // numbers by context and CUPTI's id
    uint32_t loads = 0;                    // Module records
    uint64_t images = 0, imageBytes = 0;   // written
};
State *state = nullptr; // never freed: callbacks may come during exit
std::atomic<int> capturing{0};
// generation changes when handles of functions may be used again for others.
std::atomic<uint64_t> generation{0};
std::atomic<bool> off{false}; // in a child that was forked and did not exec

// What the thread's present call into the driver has loaded. A handle that the
// call gives, or needs for the first time, stands for that module.
thread_local struct {
    uint32_t count, last; // modules, number of the last
} inCall;
thread_local bool asking = false; // the calls that are seen are our own

struct Lock {
    Lock() { pthread_mutex_lock(&state->mutex); }
    ~Lock() { pthread_mutex_unlock(&state->mutex); }
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;
};

Header *header() { return reinterpret_cast<Header *>(state->file); }

// append adds a record and gives its content, nullptr where there is no room.
char *append(Kind kind, const Bytes &content) {
    const uint64_t at = header()->used.load(), size = (sizeof(Record) + content.count + 7) / 8 * 8;
    if (size > UINT32_MAX || at + size > fileSize) {
        header()->lost++;
        return nullptr;
    }
    char *to = state->file + at;
    const Record r = {kind, static_cast<uint32_t>(size)};
    std::memcpy(to, &r, sizeof r);
    std::memcpy(to + sizeof r, content.at, content.count);
    header()->used.store(at + size, std::memory_order_release);
    return to + sizeof r;
}

void appendText(Kind kind, const char *text) {
    Bytes content;
    content.putText(text);
    append(kind, content);
}

// notice notes what could not be recorded. The mutex is held.
__attribute__((format(printf, 1, 2))) void notice(const char *format, ...) {
    char text[PATH_MAX + 256];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    appendText(Notice, text);
}

// isNew says whether a path was not seen before, and remembers it.
bool isNew(const char *path) {
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char *c = path; *c; c++) hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001b3;
    for (uint64_t n = 0;; n++) { // paths of one hash lie under n = 0, 1, ...
        char *&known = state->libraries.at(key(hash, n));
        if (!known) return known = strdup(path), true;
        if (std::strcmp(known, path) == 0) return false;
    }
}

// recordLibraries adds the mapped files that were not seen yet.
void recordLibraries() {
    FILE *maps = std::fopen("/proc/self/maps", "re");
    if (!maps) {
        notice("/proc/self/maps could not be opened");
        return;
    }
    char *line = nullptr;
    size_t room = 0;
    while (getline(&line, &room, maps) > 0) {
        const char *path = std::strchr(line, '/');
        if (!path) continue;
        line[std::strcspn(line, "\n")] = '\0';
        if (isNew(path)) appendText(Library, path);
    }
    std::free(line);
    std::fclose(maps);
}

// writeImage writes a module's image and puts the name of its file into content.
void writeImage(const char *data, size_t size, Bytes &content) {
    if (!data || state->imageBytes + size > maxImages) {
        notice("an image was not written: there is no room for it");
        return content.putText("");
    }
    // The number is not the module's: those begin anew in every context.
    char name[PATH_MAX + 64], part[PATH_MAX + 80];
    std::snprintf(name, sizeof name, "%s-%llu.image", state->prefix, static_cast<unsigned long long>(++state->images));
    std::snprintf(part, sizeof part, "%s.part", name);
    const int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    size_t done = 0;
    while (fd >= 0 && done < size) {
        const ssize_t n = write(fd, data + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += static_cast<size_t>(n);
    }
    const bool closed = fd >= 0 && close(fd) == 0;
    if (!closed || done < size || rename(part, name) != 0) {
        notice("image %s was not written: %s", name, std::strerror(errno));
        return content.putText("");
    }
    state->imageBytes += size;
    content.putText(std::strrchr(name, '/') + 1);
}

void onModule(CUcontext context, const CUpti_ModuleResourceData *module) {
    uint32_t uid = 0;
    api.contextId(context, &uid);
    const Lock lock;
    const uint32_t number = ++state->loads;
    state->loaded.at(key(uid, module->moduleId)) = number;
    inCall.count++, inCall.last = number;
    Bytes content;
    content.put<uint32_t>(module->moduleId);
    content.put<uint32_t>(uid);
    content.put<uint64_t>(module->cubinSize);
    writeImage(module->pCubin, module->cubinSize, content);
    append(Module, content);
    recordLibraries();
}

// onUnload forgets the functions: their handles may come again for others. What
// was counted stays, and a kernel that is launched again gets another record.
void onUnload(CUcontext context, const CUpti_ModuleResourceData *module) {
    uint32_t uid = 0;
    api.contextId(context, &uid);
    const Lock lock;
    const uint32_t *gone = state->loaded.find(key(uid, module->moduleId));
    state->modules.removeIf([gone](uint32_t number) { return !gone || number == *gone; });
    state->kernels.removeIf([](Counter *) { return true; });
    state->names.removeIf([](char *name) { return std::free(name), true; });
    generation.fetch_add(1);
}

// uuidOf writes a device's UUID as nvidia-smi does, the empty text where it is
// not known. A MIG instance has one of its own beside that of its GPU.
void uuidOf(uint32_t index, char (&text)[48]) {
    CUdevice device = 0;
    CUuuid gpu = {}, instance = {};
    text[0] = '\0';
    if (!api.deviceUUID || api.deviceGet(&device, static_cast<int>(index)) != CUDA_SUCCESS || api.deviceUUID(&gpu, device) != CUDA_SUCCESS) return;
    if (!api.instanceUUID || api.instanceUUID(&instance, device) != CUDA_SUCCESS) instance = gpu;
    std::strcpy(text, std::memcmp(&gpu, &instance, sizeof gpu) == 0 ? "GPU" : "MIG");
    for (int i = 0; i < 16; i++) {
        const bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        std::sprintf(text + std::strlen(text), dash ? "-%02x" : "%02x", static_cast<unsigned>(static_cast<unsigned char>(instance.bytes[i])));
    }
}

void onContext(CUcontext context) {
    uint32_t uid = 0, index = 0;
    char uuid[48] = {};
    asking = true;
    if (api.contextId(context, &uid) == CUPTI_SUCCESS && api.deviceId(context, &index) == CUPTI_SUCCESS) uuidOf(index, uuid);
    asking = false;
    Bytes content;
    content.put<uint32_t>(uid);
    content.putText(uuid);
    const Lock lock;
    append(Context, content);
    if (!*uuid) notice("the device of a context is not known");
}

// learn ties a module's handle to what the present call loaded. Where that is
// more than one module, which is which is not known. The mutex is held.
void learn(CUmodule module) {
    if (!module || inCall.count != 1) return;
    uint32_t &number = state->modules.at(key(module));
    if (!number) number = inCall.last;
}

// moduleOf gives the number of the module that a function is in, 0 where it is
// not known. The function may be a CUkernel, which stands for one in every context.
// The driver is asked only about handles of a known kind: it writes a mistake of
// ours into the log of the run.
uint32_t moduleOf(const void *function) {
    const bool *kernel = state->isKernel.find(key(function));
    if (!kernel || !api.functionModule || (*kernel && !api.kernelFunction)) return 0;
    CUmodule module = nullptr;
    CUfunction f = const_cast<CUfunction>(static_cast<const CUfunc_st *>(function));
    asking = true;
    const bool ok = (!*kernel || api.kernelFunction(&f, const_cast<void *>(function)) == CUDA_SUCCESS) &&
                    api.functionModule(&module, f) == CUDA_SUCCESS;
    asking = false;
    if (!ok) return 0;
    learn(module);
    const uint32_t *known = state->modules.find(key(module));
    return known ? *known : 0;
}

// counter gives the counter of a kernel, made when it is launched first. The
// mutex is held.
Counter *counter(const void *function, uint32_t context, const char *name) {
    Counter *&c = state->kernels.at(key(function, context));
    if (!c) {
        Bytes content;
        content.put<uint64_t>(0);
        content.put<uint64_t>(0);
        content.put<uint32_t>(context);
        content.put<uint32_t>(moduleOf(function));
        content.putText(name);
        c = reinterpret_cast<Counter *>(append(Kernel, content));
    }
    return c;
}

// remember keeps the name of a function. The mutex is held.
void remember(const void *function, const char *name) {
    char *&known = state->names.at(key(function));
    std::free(known);
    known = strdup(name ? name : "");
}

// launched counts one launch of a kernel, or notes only its name when it was
// captured into a graph: then it runs when the graph is launched.
void launched(const void *function, uint32_t context, const char *name, CUstream stream) {
    if (capturing.load(std::memory_order_relaxed) > 0) {
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        if (api.isCapturing && api.isCapturing(stream, &status) == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
            const Lock lock;
            remember(function, name);
            if (inCall.count) moduleOf(function); // only this call can tie them
            return;
        }
    }
    static thread_local Key last = {0, 0};
    static thread_local Counter *lastCounter = nullptr;
    static thread_local uint64_t lastGeneration = 0;
    const Key now = key(function, context);
    if (!lastCounter || !(last == now) || lastGeneration != generation.load(std::memory_order_relaxed)) {
        const Lock lock;
        last = now, lastCounter = counter(function, context, name), lastGeneration = generation.load();
        remember(function, name);
    }
    if (lastCounter) lastCounter->launches.fetch_add(1, std::memory_order_relaxed);
}

// nodeKernels adds the kernels of a graph, those of child graphs included. The
// mutex is held.
void nodeKernels(CUgraph graph, uint32_t context, List<Counter *> &list, int depth) {
    size_t count = 0;
    if (depth > 16 || api.graphNodes(graph, nullptr, &count) != CUDA_SUCCESS) {
        notice("the nodes of a graph could not be read");
        return;
    }
    if (count == 0) return;
    auto *nodes = static_cast<CUgraphNode *>(resized(nullptr, count * sizeof(CUgraphNode)));
    if (api.graphNodes(graph, nodes, &count) != CUDA_SUCCESS) count = 0, notice("the nodes of a graph could not be read");
    for (size_t i = 0; i < count; i++) {
        CUgraphNode node = nodes[i];
        CUgraphNodeType type;
        CUgraph child = nullptr;
        // The parameters begin with the function; later versions end with the
        // kernel and the context.
        struct {
            CUfunction function;
            unsigned int dimensions[7];
            void **params, **extra;
            void *kernel;
            CUcontext context;
            char more[256];
        } params = {};
        if (api.nodeType(node, &type) != CUDA_SUCCESS) continue;
        if (type == CU_GRAPH_NODE_TYPE_GRAPH && api.childGraph(node, &child) == CUDA_SUCCESS) {
            nodeKernels(child, context, list, depth + 1);
        }
        if (type != CU_GRAPH_NODE_TYPE_KERNEL) continue;
        if (api.kernelParams(node, &params) != CUDA_SUCCESS) {
            notice("a kernel node of a graph could not be read");
            continue;
        }
        const void *function = params.function ? static_cast<const void *>(params.function) : params.kernel;
        if (!state->isKernel.find(key(function))) state->isKernel.at(key(function)) = !params.function;
        char **known = state->names.find(key(function));
        const char *name = known ? *known : nullptr;
        if (!name && params.function && api.functionName) api.functionName(&name, params.function);
        if (!name && params.kernel && api.kernelName) api.kernelName(&name, params.kernel);
        if (!name) notice("a kernel of a graph has no name that this driver tells");
        if (Counter *c = counter(function, context, name)) list.add(&c, 1);
    }
    std::free(nodes);
}

void onGraph(const CUpti_ResourceData *data, const CUpti_GraphData *graph) {
    uint32_t uid = 0;
    if (data->context) api.contextId(data->context, &uid);
    const Lock lock;
    if (!api.graphNodes || !api.nodeType || !api.kernelParams || !api.childGraph) {
        notice("graphs are not read: the driver lacks a function");
        return;
    }
    List<Counter *> list = {};
    nodeKernels(graph->graph, uid, list, 0);
    List<Counter *> &kept = state->graphs.at(key(graph->graphExec));
    kept.release();
    kept = list;
}

void onGraphLaunch(CUgraphExec exec) {
    const Lock lock;
    const List<Counter *> *list = state->graphs.find(key(exec));
    if (!list) {
        notice("a graph was launched whose making was not seen");
        return;
    }
    for (size_t i = 0; i < list->count; i++) list->at[i]->graphLaunches.fetch_add(1, std::memory_order_relaxed);
}

void onFailure(uint32_t cbid, CUresult result, const char *function) {
    const Lock lock;
    std::atomic<uint64_t> *&count = state->failures.at(key(cbid, result));
    if (!count) {
        Bytes content;
        content.put<uint64_t>(0);
        content.put<int32_t>(result);
        content.putText(function);
        const char *name = nullptr;
        if (api.errorName) api.errorName(result, &name);
        content.putText(name);
        count = reinterpret_cast<std::atomic<uint64_t> *>(append(Failure, content));
    }
    if (count) count->fetch_add(1, std::memory_order_relaxed);
}

// onHandle takes the handle that a load gave.
void onHandle(const CUmodule *module) {
    const Lock lock;
    learn(*module);
}

void onFunction(const void *handle, bool kernel) {
    const Lock lock;
    state->isKernel.at(key(handle)) = kernel;
}

void onCall(CUpti_CallbackId cbid, const CUpti_CallbackData *data) {
    const CUresult result = *static_cast<const CUresult *>(data->functionReturnValue);
    if (result != CUDA_SUCCESS) {
        onFailure(cbid, result, data->functionName);
        return;
    }
    const void *params = data->functionParams;
    switch (cbid) {
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoad:
        onHandle(static_cast<const cuModuleLoad_params *>(params)->module);
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData:
        onHandle(static_cast<const cuModuleLoadData_params *>(params)->module);
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx:
        onHandle(static_cast<const cuModuleLoadDataEx_params *>(params)->module);
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary:
        onHandle(static_cast<const cuModuleLoadFatBinary_params *>(params)->module);
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleGetFunction:
        onFunction(*static_cast<const cuModuleGetFunction_params *>(params)->hfunc, false);
        break;
#if CUDA_VERSION >= 12000
    case CUPTI_DRIVER_TRACE_CBID_cuKernelGetFunction:
        onFunction(*static_cast<const cuKernelGetFunction_params *>(params)->pFunc, false);
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryGetKernel:
        onFunction(*static_cast<const cuLibraryGetKernel_params *>(params)->pKernel, true);
        break;
#endif
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz: {
        const auto *p = static_cast<const cuLaunchKernel_params *>(params);
        launched(p->f, data->contextUid, data->symbolName, p->hStream);
        break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
        const auto *p = static_cast<const cuLaunchKernelEx_params *>(params);
        launched(p->f, data->contextUid, data->symbolName, p->config->hStream);
        break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz: {
        const auto *p = static_cast<const cuLaunchCooperativeKernel_params *>(params);
        launched(p->f, data->contextUid, data->symbolName, p->hStream);
        break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice: {
        const auto *p = static_cast<const cuLaunchCooperativeKernelMultiDevice_params *>(params);
        for (unsigned int i = 0; i < p->numDevices; i++)
            launched(p->launchParamsList[i].function, data->contextUid, data->symbolName, p->launchParamsList[i].hStream);
        break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
        onGraphLaunch(static_cast<const cuGraphLaunch_params *>(params)->hGraph);
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz:
        capturing.fetch_add(1);
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz:
        capturing.fetch_sub(1);
        break;
    default:
        break;
    }
}

void CUPTIAPI callback(void *, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data) {
    if (off.load(std::memory_order_relaxed)) return;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        if (asking) return;
        const auto *call = static_cast<const CUpti_CallbackData *>(data);
        if (call->callbackSite == CUPTI_API_EXIT) onCall(cbid, call);
        else inCall.count = 0;
        return;
    }
    if (domain != CUPTI_CB_DOMAIN_RESOURCE) return;
    const auto *resource = static_cast<const CUpti_ResourceData *>(data);
    switch (cbid) {
    case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
        onContext(resource->context);
        break;
    case CUPTI_CBID_RESOURCE_MODULE_LOADED:
        onModule(resource->context, static_cast<const CUpti_ModuleResourceData *>(resource->resourceDescriptor));
        break;
    case CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
        onUnload(resource->context, static_cast<const CUpti_ModuleResourceData *>(resource->resourceDescriptor));
        break;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED:
        onGraph(resource, static_cast<const CUpti_GraphData *>(resource->resourceDescriptor));
        break;
    default:
        break;
    }
}

constexpr CUpti_CallbackId calls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoad, CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx, CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary,
    CUPTI_DRIVER_TRACE_CBID_cuModuleGetFunction, CUPTI_DRIVER_TRACE_CBID_cuLinkComplete,
#if CUDA_VERSION >= 12000
    CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile,
    CUPTI_DRIVER_TRACE_CBID_cuLibraryGetKernel, CUPTI_DRIVER_TRACE_CBID_cuLibraryGetModule,
    CUPTI_DRIVER_TRACE_CBID_cuKernelGetFunction,
#endif
};

constexpr CUpti_CallbackId resources[] = {
    CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_MODULE_LOADED,
    CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,
};

// variables are recorded as this process sees them.
const char *const variables[] = {
    "CUDA_DISABLE_PTX_JIT", "CUDA_FORCE_PTX_JIT", "CUDA_DISABLE_JIT", "CUDA_FORCE_JIT", "CUDA_CACHE_DISABLE",
    "CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE", "CUDA_MODULE_LOADING", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
};

template <typename F> void find(F &f, void *library, const char *name) { f = reinterpret_cast<F>(dlsym(library, name)); }

// loadCUPTI takes the libcupti that the process has loaded, else the one that
// CUDAPROOF_CUPTI names, else the loader's.
void *loadCUPTI() {
    const char *named = std::getenv("CUDAPROOF_CUPTI");
    void *library = dlopen(named && *named ? named : "libcupti.so", RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
    const char *error = dlerror();
    notice("CUPTI is missing: %s", error ? error : "libcupti.so could not be loaded");
    return nullptr;
}

bool findFunctions(void *cupti) {
    find(api.subscribe, cupti, "cuptiSubscribe");
    find(api.enable, cupti, "cuptiEnableCallback");
    find(api.version, cupti, "cuptiGetVersion");
    find(api.deviceId, cupti, "cuptiGetDeviceId");
    find(api.contextId, cupti, "cuptiGetContextId");
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!cuda) return false;
    find(api.driverVersion, cuda, "cuDriverGetVersion");
    find(api.deviceGet, cuda, "cuDeviceGet");
    find(api.deviceUUID, cuda, "cuDeviceGetUuid");
    find(api.instanceUUID, cuda, "cuDeviceGetUuid_v2");
    find(api.errorName, cuda, "cuGetErrorName");
    find(api.functionModule, cuda, "cuFuncGetModule");
    find(api.kernelFunction, cuda, "cuKernelGetFunction");
    find(api.isCapturing, cuda, "cuStreamIsCapturing");
    find(api.graphNodes, cuda, "cuGraphGetNodes");
    find(api.nodeType, cuda, "cuGraphNodeGetType");
    find(api.childGraph, cuda, "cuGraphChildGraphNodeGetGraph");
    find(api.kernelParams, cuda, "cuGraphKernelNodeGetParams_v2");
    if (!api.kernelParams) find(api.kernelParams, cuda, "cuGraphKernelNodeGetParams");
    find(api.functionName, cuda, "cuFuncGetName");
    find(api.kernelName, cuda, "cuKernelGetName");
    return api.subscribe && api.enable && api.deviceId && api.contextId && api.deviceGet;
}

// openFile makes and maps the file of this process.
bool openFile(const char *dir) {
    for (int n = 0; n < 10000; n++) {
        char name[PATH_MAX + 64];
        const int length = std::snprintf(state->prefix, sizeof state->prefix, "%s/%d-%d", dir, static_cast<int>(getpid()), n);
        if (length >= PATH_MAX) return false;
        std::snprintf(name, sizeof name, "%s.trace", state->prefix);
        const int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno == EEXIST) continue;
        if (fd < 0) return false;
        void *file = MAP_FAILED;
        if (ftruncate(fd, fileSize) == 0) file = mmap(nullptr, fileSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        if (file == MAP_FAILED) return false;
        state->file = static_cast<char *>(file);
        header()->pid = static_cast<uint64_t>(getpid());
        header()->used.store(sizeof(Header));
        std::memcpy(header()->magic, "CPTRACE1", 8);
        return true;
    }
    return false;
}

void recordProcess() {
    char exe[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    appendText(Process, exe);
    for (const char *name : variables) {
        const char *value = std::getenv(name);
        Bytes content;
        content.add(name, std::strlen(name));
        if (value) content.add("=", 1);
        content.putText(value);
        append(Variable, content);
    }
    recordLibraries();
}

bool enable(CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
    const CUptiResult result = api.enable(1, subscriber, domain, cbid);
    if (result != CUPTI_SUCCESS) notice("CUPTI callback %u of domain %d is not to be had: error %d", cbid, domain, result);
    return result == CUPTI_SUCCESS;
}

void recordVersions() {
    uint32_t cupti = 0;
    int driver = 0;
    if (api.version) api.version(&cupti);
    if (api.driverVersion) api.driverVersion(&driver);
    Bytes content;
    content.put<uint32_t>(cupti);
    content.put<int32_t>(driver);
    append(Versions, content);
}

void subscribe() {
    void *cupti = loadCUPTI();
    if (!cupti) return;
    if (!findFunctions(cupti)) return notice("CUPTI or the driver lacks a function that the trace needs");
    recordVersions();
    CUpti_SubscriberHandle subscriber;
    const CUptiResult result = api.subscribe(&subscriber, callback, nullptr);
    if (result != CUPTI_SUCCESS) return notice("CUPTI is in use already or refuses: error %d", result);
    for (CUpti_CallbackId cbid : resources) enable(subscriber, CUPTI_CB_DOMAIN_RESOURCE, cbid);
    for (CUpti_CallbackId cbid : calls) enable(subscriber, CUPTI_CB_DOMAIN_DRIVER_API, cbid);
}

void atExit() {
    if (off.load()) return;
    const Lock lock;
    recordLibraries();
}

} // namespace

// InitializeInjection is what the driver calls in a library that
// CUDA_INJECTION64_PATH names (CUPTI documentation, "CUDA Injection").
extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
    const char *dir = std::getenv("CUDAPROOF_TRACE_DIR");
    if (!dir || !*dir || state) return 1;
    static State all;
    state = &all;
    if (!openFile(dir)) {
        off.store(true);
        return 1; // without a file the run counts as not traced
    }
    const Lock lock;
    recordProcess();
    pthread_atfork(nullptr, nullptr, [] { off.store(true); });
    std::atexit(atExit);
    subscribe();
    return 1;
}
