// Everything a kernel written in C++ needs: attributes, ids, barriers and fences, LDS arrays, atomics, what lanes of a
// wave tell one another. OpenCL C kernels: opencl.h.
#pragma once

#include "array.hpp"
#include "atomic.hpp"
#include "barrier.hpp"
#include "kernel.hpp"
#include "wave.hpp"
#include "wave_reduce.hpp"
#include "work_item.hpp"
