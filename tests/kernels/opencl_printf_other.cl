// A kernel that prints, of another code object than opencl_printf.cl's.
#include "shared/device/opencl.h"
#include "shared/device/opencl_printf.h"

kernel void other(int a) {
    if (get_global_id(0) == 0) printf("other %d %d\n", a, a);
}
