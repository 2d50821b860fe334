/* The C interface of the arrays, and with it that of the driver layer: hsadrv/hsadrv.h says what holds for every
 * function. */
#ifndef HSADRV_DEVICEARRAY_H
#define HSADRV_DEVICEARRAY_H

#include "devicearray/c/array.h"
#include "hsadrv/hsadrv.h"

#endif
