// A driver library that does not fit the kernel driver: every call returns 803
// (case C22), as a forward-compatibility libcuda does that comes first in the path.
#include <string.h>

static int unfit(void) { return 803; }

int cuInit(unsigned flags) { return 803; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuGetExportTable(const void** table, const void* id) { return 803; }
int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags, int* status);
int cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags) {
  *function = !strcmp(name, "cuDriverGetVersion")    ? (void*)cuDriverGetVersion
              : !strcmp(name, "cuGetExportTable")    ? (void*)cuGetExportTable
              : !strcmp(name, "cuGetProcAddress_v2") ? (void*)cuGetProcAddress_v2
              : !strcmp(name, "cuGetProcAddress")    ? (void*)(version < 12000 ? (void*)cuGetProcAddress : (void*)cuGetProcAddress_v2)
                                                     : (void*)unfit;
  return 0;
}
int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags, int* status) {
  if (status) *status = 0;
  return cuGetProcAddress(name, function, version, flags);
}
