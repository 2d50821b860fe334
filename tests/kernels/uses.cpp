// Variables that other code objects or the program define. `counter` and `table` are globals.cpp's.
extern "C" {
__attribute__((visibility("default"))) extern int counter;
__attribute__((visibility("default"))) extern int table[4];
__attribute__((visibility("default"))) extern int given[];

__attribute__((amdgpu_kernel, visibility("protected"))) void count_up(int* out) {
    counter += 1;
    out[0] = counter;
    out[1] = table[3];
    out[2] = given[1];
}
}
