#include "hsadrv/device_global.hpp"

#include <utility>

#include "hsadrv/error.hpp"
#include "hsadrv/launch/executable_state.hpp"

namespace hsadrv {

DeviceGlobal::DeviceGlobal(std::shared_ptr<detail::ExecutableState> executable, Symbol symbol, bool read_only) noexcept
    : executable_(std::move(executable)), symbol_(std::move(symbol)), read_only_(read_only) {}

AgentRef DeviceGlobal::agent() const noexcept { return executable_->agent; }

std::string DeviceGlobal::label() const { return "device global '" + symbol_.name + "'"; }

void DeviceGlobal::refuse_size(std::size_t given_bytes) const {
    throw InvalidArgument(label() + " has " + std::to_string(symbol_.size_bytes) + " bytes, the type given has " +
                          std::to_string(given_bytes));
}

void DeviceGlobal::check_writable() const {
    if (read_only_) {
        throw InvalidArgument(label() +
                              " is constant: kernels may have its value in their instructions; declare it without "
                              "const, and volatile if only the host writes it");
    }
}

void DeviceGlobal::check_stream(const Stream& stream) const {
    if (stream.agent() == agent()) return;
    static_cast<void>(stream.queue());  // throws if it is closed
    throw InvalidArgument(label() + ": it is loaded on " + agent().label() + ", the stream belongs to " +
                          stream.agent().label());
}

std::byte* DeviceGlobal::at(std::size_t offset_bytes, std::size_t size_bytes, const char* call) const {
    if (offset_bytes > symbol_.size_bytes || size_bytes > symbol_.size_bytes - offset_bytes) {
        throw InvalidArgument(label() + ", " + call + ": bytes " + std::to_string(offset_bytes) + " + " +
                              std::to_string(size_bytes) + " of " + std::to_string(symbol_.size_bytes));
    }
    return static_cast<std::byte*>(address()) + offset_bytes;
}

void DeviceGlobal::read_bytes(Stream& stream, std::span<std::byte> to, std::size_t offset_bytes,
                              Deadline deadline) const {
    check_stream(stream);
    stream.copy_async(to.data(), at(offset_bytes, to.size(), "read"), to.size(), deadline);
    stream.keep_alive(executable_);
    stream.synchronize(deadline);
}

void DeviceGlobal::write_bytes(Stream& stream, std::span<const std::byte> from, std::size_t offset_bytes,
                               Deadline deadline) const {
    check_writable();
    check_stream(stream);
    stream.copy_async(at(offset_bytes, from.size(), "write"), from.data(), from.size(), deadline);
    stream.keep_alive(executable_);
}

void DeviceGlobal::read_bytes(std::span<std::byte> to, std::size_t offset_bytes, Deadline deadline) const {
    std::byte* const from = at(offset_bytes, to.size(), "read");
    executable_->copy(to.data(), from, to.size(), deadline);
}

void DeviceGlobal::write_bytes(std::span<const std::byte> from, std::size_t offset_bytes, Deadline deadline) const {
    check_writable();
    std::byte* const to = at(offset_bytes, from.size(), "write");
    executable_->copy(to, from.data(), from.size(), deadline);
}

}  // namespace hsadrv
