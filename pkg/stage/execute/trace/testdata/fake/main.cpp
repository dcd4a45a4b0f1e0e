extern "C" int scenario(); int main() { return scenario(); }
