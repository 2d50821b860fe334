// Device globals, and pointers to them: the code object has relocations.
#define GLOBAL __attribute__((visibility("protected")))

extern "C" {
GLOBAL int counter = 7;
GLOBAL int table[4] = {10, 20, 30, 40};
GLOBAL int* volatile pointers[2] = {&counter, &table[2]};
GLOBAL extern const int constants[3] = {1, 2, 3};
GLOBAL float big[1 << 18] = {};

// Visible, but not a kernel.
GLOBAL __attribute__((noinline)) int twice(int x) { return 2 * x; }

__attribute__((amdgpu_kernel, visibility("protected"))) void read_globals(int* out, int index) {
    out[0] = *pointers[index];
}

// As clang 21 and later name the body of an OpenCL kernel.
GLOBAL void __clang_ocl_kern_imp_add_to_counter(int more) { counter += twice(more); }

__attribute__((amdgpu_kernel, visibility("protected"))) void add_to_counter(int more) {
    counter += twice(more) + constants[2];
}
}
