// Two kernels that write different constants.
__global__ void seven(int* p) { *p = 7; }
__global__ void nine(int* p) { *p = 9; }
void launch(int* p) {
  seven<<<1, 1>>>(p);
  nine<<<1, 1>>>(p);
}
int main() { launch(0); }
