// Everything a kernel written in C++ needs: attributes, ids, barrier, LDS arrays, atomics. OpenCL C kernels:
// opencl.h.
#pragma once

#include "array.hpp"
#include "atomic.hpp"
#include "barrier.hpp"
#include "kernel.hpp"
#include "work_item.hpp"
