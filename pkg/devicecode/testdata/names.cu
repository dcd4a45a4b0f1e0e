namespace {
__global__ void hidden(int* p) { *p = 1; }
template <class T> __global__ void by_value(T) {}
}  // namespace
namespace ns {
template <class T> struct box {};
template <class T, int N> __global__ void fill(T* p) { *p = N; }
}  // namespace ns
__shared__ int shared_at_module_scope;
__global__ void uses_shared(int* p) {
  __shared__ int tile[32];
  tile[threadIdx.x] = p[0];
  __syncthreads();
  shared_at_module_scope = tile[3];
  *p = shared_at_module_scope;
}
void launch() {
  hidden<<<1, 1>>>(0);
  by_value<<<1, 1>>>(ns::box<float*>());
  ns::fill<float, 3><<<1, 1>>>(0);
  ns::fill<unsigned long, 4><<<1, 1>>>(0);
  uses_shared<<<1, 1>>>(0);
}
