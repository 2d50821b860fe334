// What the kernels of convergence_cl.cl have to give.
#define UNIT "convergence_cl"
#include "convergence_words.hpp"

#include "convergence_operations.h"
