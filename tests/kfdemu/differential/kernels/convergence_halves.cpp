// convergence.cpp's shapes by what shared/device does on GPUs whose permutes and data parallel primitives reach half of
// a wave or a row of it: v_readlane_b32 and row_shr, which GFX9 has, too.
#define HSADRV_WAVE_OF_HALVES 1
#define UNIT "convergence_halves"
#include "convergence_words.hpp"

#include "convergence_operations.h"
