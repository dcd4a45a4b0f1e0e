// Lists the visible devices as the CUDA runtime gives them, in one JSON object
// on standard output:
//
//   {"library":"/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04","driver":13000,
//     "devices":[{"index":0,"uuid":"GPU-...","name":"NVIDIA H200","major":9,"minor":0,
//     "integrated":false}]}
//
// A MIG instance has a UUID of its own, which cuDeviceGetUuid_v2 gives (CUDA Driver
// API): "MIG-...".
//
// A member is there only when its call succeeded. When a call fails the object
// ends with it, the exit code is 1, and no device is listed:
//
//   {"library":"...","driver":13000,"failed":{"call":"cudaGetDeviceCount",
//     "error":100,"name":"cudaErrorNoDevice","text":"no CUDA-capable ..."}}
//
// Without a driver, cudaDriverGetVersion succeeds and gives 0:
//
//   {"no_driver":true}
//
// It launches nothing and makes no context.

#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

// The driver library, as the runtime finds it too; null for none. The runtime
// closes it again where it is of no use.
static void *driverLibrary() { return dlopen("libcuda.so.1", RTLD_NOW); }

template <typename F> static F driverFunction(const char *name) {
    void *library = driverLibrary();
    return reinterpret_cast<F>(library ? dlsym(library, name) : nullptr);
}

static std::string quoted(const char *text) {
    std::string s = "\"";
    for (; *text != '\0'; text++) {
        const unsigned char c = static_cast<unsigned char>(*text);
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            s += escape;
        } else {
            s += static_cast<char>(c);
        }
    }
    return s + '"';
}

static std::string failed(const char *call, cudaError_t error) {
    return "\"failed\":{\"call\":" + quoted(call) +
           ",\"error\":" + std::to_string(static_cast<int>(error)) +
           ",\"name\":" + quoted(cudaGetErrorName(error)) +
           ",\"text\":" + quoted(cudaGetErrorString(error)) + "}";
}

static std::string uuid(int index, const cudaUUID_t &gpu) {
    const auto get = driverFunction<CUresult (*)(CUdevice *, int)>("cuDeviceGet");
    const auto getUuid = driverFunction<CUresult (*)(CUuuid *, CUdevice)>("cuDeviceGetUuid_v2");
    CUdevice device;
    CUuuid id;
    if (!get || !getUuid || get(&device, index) != CUDA_SUCCESS || getUuid(&id, device) != CUDA_SUCCESS) std::memcpy(&id, &gpu, sizeof id);
    std::string s = std::memcmp(&id, &gpu, sizeof id) == 0 ? "GPU-" : "MIG-";
    for (int i = 0; i < 16; i++) {
        char hex[3];
        std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned>(static_cast<unsigned char>(id.bytes[i])));
        s += hex;
        if (i == 3 || i == 5 || i == 7 || i == 9) s += '-';
    }
    return s;
}

static std::string device(int index, const cudaDeviceProp &p) {
    return "{\"index\":" + std::to_string(index) +
           ",\"uuid\":" + quoted(uuid(index, p.uuid).c_str()) +
           ",\"name\":" + quoted(p.name) +
           ",\"major\":" + std::to_string(p.major) +
           ",\"minor\":" + std::to_string(p.minor) +
           ",\"integrated\":" + (p.integrated ? "true" : "false") + "}";
}

// library adds the path of the driver library.
static void library(std::string &object) {
    Dl_info info;
    const auto function = driverFunction<void *>("cuInit");
    if (!function || !dladdr(function, &info)) return;
    char *path = realpath(info.dli_fname, nullptr);
    object += "\"library\":" + quoted(path ? path : info.dli_fname) + ",";
    std::free(path);
}

// query adds the members of the object and reports whether every call
// succeeded.
static bool query(std::string &object) {
    int version = 0;
    cudaError_t error = cudaDriverGetVersion(&version);
    library(object);
    if (error != cudaSuccess) {
        object += failed("cudaDriverGetVersion", error);
        return false;
    }
    if (version == 0) {
        object += "\"no_driver\":true";
        return false;
    }
    object += "\"driver\":" + std::to_string(version) + ",";

    int count = 0;
    error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        object += failed("cudaGetDeviceCount", error);
        return false;
    }
    std::string devices;
    for (int i = 0; i < count; i++) {
        cudaDeviceProp properties;
        error = cudaGetDeviceProperties(&properties, i);
        if (error != cudaSuccess) {
            object += failed("cudaGetDeviceProperties", error);
            return false;
        }
        devices += (i > 0 ? "," : "") + device(i, properties);
    }
    object += "\"devices\":[" + devices + "]";
    return true;
}

int main() {
    std::string object;
    const bool ok = query(object);
    if (std::printf("{%s}\n", object.c_str()) < 0 || std::fflush(stdout) != 0) return 2;
    return ok ? 0 : 1;
}
