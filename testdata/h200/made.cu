extern "C" __global__ void made(int* out) { *out = 42; }
