// Umbrella header for kernels in C++: attributes, ids, barriers and fences, for grids as well, LDS arrays, atomics, and
// exchange between lanes of a wave. For OpenCL C kernels: opencl.h.
#pragma once

#include "array.hpp"
#include "atomic.hpp"
#include "barrier.hpp"
#include "grid.hpp"
#include "kernel.hpp"
#include "wave.hpp"
#include "wave_reduce.hpp"
#include "work_item.hpp"
