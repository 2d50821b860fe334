// Services of the host for kernels in C++: printf, HSADRV_ASSERT, malloc and free. docs/guide/services.md.
//
// A kernel that uses them waits for the host each time: they are for finding mistakes, and for results whose size is
// not known before. A kernel that does not use them is not changed by this header.
#pragma once

#include "assert.hpp"
#include "heap.hpp"
#include "printf.hpp"
