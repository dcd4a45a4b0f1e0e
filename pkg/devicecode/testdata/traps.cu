// Kernels that only trap, and kernels that look like it (case C25).
#include <assert.h>
#include <stdio.h>

extern "C" {
__global__ void only_trap(int *out) { __trap(); }

__global__ void trap_by_asm(int *out) { asm volatile("trap;"); }

// As llama.cpp marks code that a target does not have.
__global__ void message_then_trap(int *out) {
  printf("no code for this target\n");
  __trap();
}

// The same with arguments, as its NO_DEVICE_CODE has them.
__global__ void long_message_then_trap(int *out) {
  printf("%s:%d: kernel %s has no code for %d\n", __FILE__, __LINE__, __func__, 1);
  __trap();
}

__global__ void trap_below_80(int *out) {
#if __CUDA_ARCH__ < 800
  __trap();
#else
  *out = 80;
#endif
}

__global__ void trap_if(int *out) {
  if (*out == 3)
    __trap();
  *out = 4;
}

__global__ void trap_unless(int *out) {
  if (*out != 3)
    return;
  __trap();
}

__global__ void store_then_trap(int *out) {
  *out = 5;
  __trap();
}

__global__ void asserts(int *out) {
  assert(*out == 3);
  *out = 6;
}

__global__ void loops(int *out) {
  for (;;)
    ;
}

__device__ __noinline__ void store(int *out) { *out = 8; }

__global__ void call_then_trap(int *out) {
  store(out);
  __trap();
}

__global__ void nothing(int *out) {}

__global__ void works(int *out) { *out = 7; }
}
