// Everything of the driver layer, in dependency order.
#pragma once

// clang-format off
#include "hsadrv/error.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/optional_api.hpp"
#include "hsadrv/handle.hpp"
#include "hsadrv/packet.hpp"
#include "hsadrv/agent.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/mem_region.hpp"
#include "hsadrv/mem_pool.hpp"
#include "hsadrv/registration.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/signal.hpp"
#include "hsadrv/signal_callbacks.hpp"
#include "hsadrv/signal_pool.hpp"
#include "hsadrv/aql_ring.hpp"
#include "hsadrv/queue.hpp"
#include "hsadrv/kernarg_ring.hpp"
#include "hsadrv/stream.hpp"
#include "hsadrv/context.hpp"
#include "hsadrv/code_object.hpp"
#include "hsadrv/bound_kernel.hpp"
#include "hsadrv/executable.hpp"
#include "hsadrv/executable_builder.hpp"
#include "hsadrv/launch.hpp"
// clang-format on
