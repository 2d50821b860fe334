// Everything for programs: arrays, and with them the driver layer and the LDS layouts.
#pragma once

#include "devicearray/device_ndarray.hpp"
#include "devicearray/dims.hpp"
#include "devicearray/dtype.hpp"
#include "devicearray/host_view.hpp"
#include "devicearray/layout.hpp"
#include "devicearray/transfer.hpp"
#include "hsadrv/hsadrv.hpp"
#include "shared/lds_layout.hpp"
