// Lists the visible devices as the CUDA runtime gives them, in one JSON object
// on standard output:
//
//   {"driver":13000,"devices":[{"index":0,"uuid":"GPU-...",
//     "name":"NVIDIA H200","major":9,"minor":0,"integrated":false}]}
//
// A member is there only when its call succeeded. When a call fails the object
// ends with it, the exit code is 1, and no device is listed:
//
//   {"driver":13000,"failed":{"call":"cudaGetDeviceCount",
//     "error":100,"name":"cudaErrorNoDevice","text":"no CUDA-capable ..."}}
//
// Without a driver, cudaDriverGetVersion succeeds and gives 0:
//
//   {"no_driver":true}
//
// It launches nothing and makes no context.

#include <cuda_runtime.h>

#include <cstdio>
#include <string>

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

static std::string uuid(const cudaUUID_t &id) {
    std::string s = "GPU-";
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
           ",\"uuid\":" + quoted(uuid(p.uuid).c_str()) +
           ",\"name\":" + quoted(p.name) +
           ",\"major\":" + std::to_string(p.major) +
           ",\"minor\":" + std::to_string(p.minor) +
           ",\"integrated\":" + (p.integrated ? "true" : "false") + "}";
}

// query adds the members of the object and reports whether every call
// succeeded.
static bool query(std::string &object) {
    int version = 0;
    cudaError_t error = cudaDriverGetVersion(&version);
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
