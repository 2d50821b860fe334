// Two code objects, made of this file with and without WITH_FIRST, that each need a variable of the other; the program
// may define one of them.
#define GLOBAL __attribute__((visibility("default")))
extern "C" {
#ifdef WITH_FIRST
GLOBAL int first = 1;
GLOBAL extern int second;
__attribute__((amdgpu_kernel, visibility("protected"))) void read_second(int* out) { out[0] = second; }
#else
GLOBAL int second = 2;
GLOBAL extern int first;
__attribute__((amdgpu_kernel, visibility("protected"))) void read_first(int* out) { out[0] = first; }
#endif
}
