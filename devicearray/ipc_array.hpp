// Arrays that several processes share, without a copy.
//
//     std::string handle = to_ipc(d_a);                      // one line of text, for a pipe, a socket or MPI
//     auto d_b = from_ipc(handle, gpu);                      // in another process: the same memory
//
// The text is a Python dictionary: dtype, shape, strides and an IpcMemoryHandle in hexadecimal digits. Trust the
// processes that send it. Lifetime: the exporter keeps its array until the receivers are done: its memory comes from a
// pool, which gives it to other arrays once it is free. Received memory stays attached while the array, a view of it,
// or a stream that works with it needs it. The receiver maps all of the pool's chunk, and so other arrays, too.
// Ordering: the processes order their work, by an ipc_signal() or on the host. Thread safety: any thread. Errors:
// InvalidArgument. See hsadrv/ipc.hpp.
#pragma once

#include <string>
#include <string_view>

#include "devicearray/device_ndarray.hpp"
#include "hsadrv/agent.hpp"

namespace hsadrv {

/// For an array in device memory of this process; views of any layout, too. Throws InvalidArgument for other memory,
/// and for a dtype that NumPy cannot describe.
std::string to_ipc(const DeviceNDArray& array);

/// Throws InvalidArgument for a text that to_ipc() did not make, for memory of another GPU, and if the exporter has
/// freed it.
DeviceNDArray from_ipc(std::string_view handle, AgentRef gpu);

}  // namespace hsadrv
