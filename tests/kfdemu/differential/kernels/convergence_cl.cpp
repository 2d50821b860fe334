// The expected results of convergence_cl.cl.
#define UNIT "convergence_cl"
#include "convergence_words.hpp"

#include "convergence_operations.h"
