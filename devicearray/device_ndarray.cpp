#include "devicearray/device_ndarray.hpp"

#include <optional>

#include "devicearray/array_device.hpp"
#include "devicearray/assign.hpp"
#include "devicearray/transfer.hpp"
#include "hsadrv/context.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/memory_resource.hpp"
#include "hsadrv/thread_stream.hpp"

namespace hsadrv {
namespace {

const std::shared_ptr<const void> no_owner;

void require_itemsize(const DType& dtype, const Layout& layout) {
    if (static_cast<std::int64_t>(dtype.itemsize()) == layout.itemsize()) return;
    throw InvalidArgument("DeviceNDArray: elements of " + dtype.name() + " have " + std::to_string(dtype.itemsize()) +
                          " B, the layout's " + std::to_string(layout.itemsize()) + " B");
}

/// An operation's stream, and whether the operation must wait for it because no caller can.
struct Work {
    Stream& stream;
    bool waits;
    std::optional<ThreadStream> keeps{};  ///< keeps the stream alive if no Context does

    void finish(Deadline deadline) const {
        if (waits) stream.synchronize(deadline);
    }
};

Context& required_context(const char* call) {
    if (Context* const context = Context::try_current()) return *context;
    throw Error(std::string(call) +
                ": no stream: none was given, the array is not bound to one, and this thread has no current "
                "hsadrv::Context");
}

/// This thread's stream on that device. It ends with the Work if the thread has no Context of the device.
Work device_work(AgentRef agent) {
    const ThreadStream own(agent);
    return {own.stream(), true, own};
}

/// For new memory: the current Context's device, unless one is given.
Work work_on(const char* call, OnStream given) {
    refuse_in_forked_child(call);
    if (given.get()) return {*given.get(), false};
    if (given.agent()) return device_work(given.agent());
    return {required_context(call).thread_stream(), true};
}

/// This thread's stream on the array's device, whichever device is current.
Work thread_work(const char* call, AgentRef agent) {
    refuse_in_forked_child(call);
    Context& current = required_context(call);
    if (current.agent() == agent) return {current.thread_stream(), true};
    return device_work(agent);
}

/// For calls that wait for their work.
void require_no_capture(const char* call, Stream& stream) {
    if (!stream.capturing()) return;
    throw InvalidArgument(std::string(call) +
                          ": the stream is being captured, and this call waits for work that a capture does not run");
}

Work work_on(const char* call, OnStream given, const WeakStream& bound, AgentRef agent) {
    const auto work_of = [&]() -> Work {
        if (given.get() || given.agent()) return work_on(call, given);
        if (!bound) return thread_work(call, agent);
        refuse_in_forked_child(call);
        Stream* const stream = bound.get();
        if (!stream) throw InvalidArgument(std::string(call) + ": the stream that the array is bound to was destroyed");
        return {*stream, false};
    };
    Work work = work_of();
    if (work.stream.agent() != agent) {
        throw InvalidArgument(std::string(call) + ": the array is on " + agent.label() + ", the stream on " +
                              work.stream.agent().label());
    }
    if (work.waits) require_no_capture(call, work.stream);
    return work;
}

/// A block of the pool, and a reference that keeps the pool alive.
struct PooledMemory {
    std::shared_ptr<detail::ArrayDevice> device;
    Block block;
};

DeviceNDArray make_array(const ArrayForm& form, Stream& stream) {
    // An empty array has no memory, but it has a device.
    if (form.memory_bytes() == 0) return DeviceNDArray(nullptr, nullptr, form.dtype, form.layout, stream.agent());
    auto device = detail::ArrayDevice::of(stream);
    Block block = device->array_block(form.memory_bytes(), stream);
    void* const first = form.first_element(block.data());
    auto memory = std::make_shared<const PooledMemory>(PooledMemory{std::move(device), std::move(block)});
    return DeviceNDArray(std::move(memory), first, form.dtype, form.layout, stream.agent());
}

/// Memory of a resource of the caller's, and the resource.
class ResourceMemory {
  public:
    ResourceMemory(std::shared_ptr<MemoryResource> resource, std::size_t size_bytes, Stream& stream)
        : resource_(std::move(resource)), size_bytes_(size_bytes) {
        data_ = resource_->allocate(size_bytes_, alignment_, stream);
        if (data_ != nullptr && reinterpret_cast<std::uintptr_t>(data_) % alignment_ == 0) return;
        if (data_ != nullptr) resource_->deallocate(data_, size_bytes_, alignment_);
        const std::string call = "device_array: MemoryResource::allocate(" + std::to_string(size_bytes_) + " B, " +
                                 std::to_string(alignment_) + " B aligned)";
        if (data_ == nullptr) throw OutOfMemory(call + ": null");
        throw Error(call + ": the address is not aligned");
    }
    ResourceMemory(const ResourceMemory&) = delete;
    ResourceMemory& operator=(const ResourceMemory&) = delete;
    ~ResourceMemory() { resource_->deallocate(data_, size_bytes_, alignment_); }
    void* data() const { return data_; }

  private:
    static constexpr std::size_t alignment_ = 256;
    std::shared_ptr<MemoryResource> resource_;
    std::size_t size_bytes_;
    void* data_ = nullptr;
};

void require_destination(const char* call, const HostNDArray& ary) {
    if (ary.writable()) return;
    throw InvalidArgument(std::string(call) + ": the destination (" + ary.dtype().name() + " with " +
                          ary.layout().to_string() + ") is read-only; use a copy() of it");
}

/// Pinned memory from the pool, which is fast to allocate.
HostNDArray pooled_host_array(const ArrayForm& form, Stream& stream) {
    if (form.memory_bytes() == 0) return HostNDArray(nullptr, static_cast<void*>(nullptr), form.dtype, form.layout);
    auto device = detail::ArrayDevice::of(stream);
    Block block = device->host_block(form.memory_bytes(), stream);
    void* const first = form.first_element(block.data());
    auto memory = std::make_shared<const PooledMemory>(PooledMemory{std::move(device), std::move(block)});
    return HostNDArray(std::move(memory), first, form.dtype, form.layout);
}

}  // namespace

void detail::refuse_as_pointer(const DType& dtype, const Layout& layout) {
    // The C++ spelling of the element type, if it has one.
    const std::string name = dtype.name();
    const std::string spelled = name == "float32"               ? "float"
                                : name == "float64"             ? "double"
                                : name.find("int") != name.npos ? name + "_t"
                                                                : "T";
    throw InvalidArgument(
        "kernel argument: an array of " + name + " with " + layout.to_string() +
        ", cannot be passed as a plain pointer: the kernel would not know its strides; pass nd_span<" + spelled + ", " +
        std::to_string(layout.rank()) + ">(array), a contiguous copy, or data() if the kernel knows the strides");
}

DeviceNDArray::DeviceNDArray(std::shared_ptr<const void> keep_alive, void* data, const DType& dtype,
                             const Layout& layout, AgentRef agent)
    : keep_alive_(std::move(keep_alive)),
      data_(data),
      dtype_(dtype),
      layout_(layout),
      contiguous_(layout.is_contiguous()),
      agent_(agent) {
    require_itemsize(dtype, layout);
}

DeviceNDArray::DeviceNDArray(Allocation memory, const DType& dtype, const Layout& layout)
    : data_(memory.data()), dtype_(dtype), layout_(layout), contiguous_(true), agent_(memory.owner()) {
    require_itemsize(dtype, layout);
    if (!layout.is_contiguous() || memory.size_bytes() < static_cast<std::size_t>(layout.size_bytes())) {
        throw InvalidArgument("DeviceNDArray: an allocation of " + std::to_string(memory.size_bytes()) +
                              " B cannot hold " + dtype.name() + " with " + layout.to_string() + ", contiguously");
    }
    keep_alive_ = std::make_shared<const Allocation>(std::move(memory));
}

DeviceNDArray DeviceNDArray::bind(const Stream& stream) const {
    if (stream.agent() != agent_) {
        throw InvalidArgument("DeviceNDArray::bind: the array is on " + agent_.label() + ", the stream on " +
                              stream.agent().label());
    }
    DeviceNDArray bound = *this;
    bound.bound_ = WeakStream(stream);
    return bound;
}

DeviceNDArray DeviceNDArray::with_writeback(const HostNDArray& ary) const {
    static constexpr const char* call = "DeviceNDArray::with_writeback";
    require_destination(call, ary);
    if (ary.dtype() != dtype_ || ary.shape() != shape()) {
        throw InvalidArgument(std::string(call) + ": the host array is " + ary.dtype().name() + " with " +
                              ary.layout().to_string() + ", the device array " + dtype_.name() + " with " +
                              layout_.to_string());
    }
    DeviceNDArray with = *this;
    with.writeback_ = std::make_shared<const HostNDArray>(ary);
    return with;
}

void DeviceNDArray::to_host(OnStream stream, Deadline deadline) const {
    if (!writeback_) {
        throw InvalidArgument(
            "DeviceNDArray::to_host: the array has no host array to write back to; use copy_to_host(), or "
            "with_writeback() first");
    }
    copy_to_host(*writeback_, stream, deadline);
}

void DeviceNDArray::require_dtype(const char* call, const DType& wanted) const {
    if (wanted == dtype_) return;
    throw InvalidArgument(std::string(call) + ": the elements are " + dtype_.name() + ", not " + wanted.name());
}

HostNDArray DeviceNDArray::copy_to_host(const HostNDArray& ary, OnStream stream, Deadline deadline) const {
    require_destination("DeviceNDArray::copy_to_host", ary);
    give({ary.data(), ary.dtype(), ary.layout(), ary.keep_alive()}, stream, deadline);
    return ary;
}

HostNDArray DeviceNDArray::copy_to_host(OnStream stream, Deadline deadline) const {
    const Work work = work_on("DeviceNDArray::copy_to_host", stream, bound_, agent_);
    const HostNDArray host = work.waits ? host_array_like(HostView{data_, dtype_, layout_})
                                        : pooled_host_array(form_like(dtype_, layout_), work.stream);
    copy_to_host(host, work.stream, deadline);
    work.finish(deadline);
    return host;
}

void DeviceNDArray::copy_to_device(const HostNDArray& ary, OnStream stream, Deadline deadline) {
    take({ary.data(), ary.dtype(), ary.layout(), ary.keep_alive()}, stream, deadline);
}

void DeviceNDArray::copy_to_host(const MutableHostView& host, OnStream stream, Deadline deadline) const {
    give({host.data, host.dtype, host.layout, no_owner}, stream, deadline);
}

void DeviceNDArray::fill_host(const MutableHostView& host, OnStream stream, Deadline deadline) const {
    static constexpr const char* call = "DeviceNDArray::copy_to_host";
    const Work work = work_on(call, stream, bound_, agent_);
    require_no_capture(call, work.stream);
    copy_to_host(host, work.stream, deadline);
    work.stream.synchronize(deadline);
}

void DeviceNDArray::copy_to_device(const HostView& host, OnStream stream, Deadline deadline) {
    take({host.data, host.dtype, host.layout, no_owner}, stream, deadline);
}

void DeviceNDArray::copy_to_device(const DeviceNDArray& source, OnStream stream, Deadline deadline) {
    take({source.data_, source.dtype_, source.layout_, source.keep_alive_}, stream, deadline);
}

void DeviceNDArray::take(const detail::TransferEnd& from, OnStream stream, Deadline deadline) {
    static constexpr const char* call = "DeviceNDArray::copy_to_device";
    const Work work = work_on(call, stream, bound_, agent_);
    detail::transfer(call, {data_, dtype_, layout_, keep_alive_}, from, work.stream, deadline);
    work.finish(deadline);
}

void DeviceNDArray::give(const detail::TransferEnd& to, OnStream stream, Deadline deadline) const {
    static constexpr const char* call = "DeviceNDArray::copy_to_host";
    const Work work = work_on(call, stream, bound_, agent_);
    detail::transfer(call, to, {data_, dtype_, layout_, keep_alive_}, work.stream, deadline);
    work.finish(deadline);
}

void DeviceNDArray::require_aligned(const char* call, std::size_t alignment) const {
    if (reinterpret_cast<std::uintptr_t>(data_) % alignment == 0) return;
    throw InvalidArgument(std::string(call) + ": the first element's address is not a multiple of " +
                          std::to_string(alignment) + " B, as " + dtype_.name() +
                          " requires; copy the elements into a new array, or use get() and set()");
}

DeviceNDArray DeviceNDArray::like(OnStream stream) const {
    static constexpr const char* call = "device_array_like";
    const Work work = stream.get() || stream.agent() ? work_on(call, stream) : work_on(call, stream, bound_, agent_);
    return make_array(form_like(dtype_, layout_), work.stream);
}

DeviceNDArray DeviceNDArray::item(const Dims& index) const {
    return at(static_cast<std::byte*>(data_) + layout_.offset_of(index), dtype_,
              Layout::contiguous({}, layout_.itemsize()));
}

void DeviceNDArray::fill_with(const HostView& value, OnStream stream, Deadline deadline) {
    static constexpr const char* call = "DeviceNDArray::fill";
    require_dtype(call, value.dtype);
    const Work work = work_on(call, stream, bound_, agent_);
    detail::fill(call, {data_, dtype_, layout_, keep_alive_}, value.data, work.stream, deadline);
    work.finish(deadline);
}

DeviceNDArray device_array(const Dims& shape, const DType& dtype, const Arrangement& arrangement, OnStream stream) {
    return make_array(form_of(shape, dtype, arrangement), work_on("device_array", stream).stream);
}

DeviceNDArray device_array(const Dims& shape, const DType& dtype, const Arrangement& arrangement, AgentRef agent) {
    const ArrayForm form = form_of(shape, dtype, arrangement);
    if (form.memory_bytes() == 0) return DeviceNDArray(nullptr, nullptr, form.dtype, form.layout, agent);
    auto memory = std::make_shared<const Allocation>(
        detail::given_back([&] { return Allocation::from_pool(device_pool(agent), form.memory_bytes()); }));
    void* const first = form.first_element(memory->data());
    return DeviceNDArray(std::move(memory), first, form.dtype, form.layout, agent);
}

DeviceNDArray device_array(const Dims& shape, const DType& dtype, const Arrangement& arrangement, OnStream stream,
                           std::shared_ptr<MemoryResource> memory) {
    if (!memory) throw InvalidArgument("device_array: the memory resource is null");
    const ArrayForm form = form_of(shape, dtype, arrangement);
    const Work work = work_on("device_array", stream);
    const AgentRef agent = work.stream.agent();
    if (form.memory_bytes() == 0) return DeviceNDArray(nullptr, nullptr, form.dtype, form.layout, agent);
    auto owner = std::make_shared<const ResourceMemory>(std::move(memory), form.memory_bytes(), work.stream);
    void* const first = form.first_element(owner->data());
    return DeviceNDArray(std::move(owner), first, form.dtype, form.layout, agent);
}

DeviceNDArray device_array_like(const DeviceNDArray& other, OnStream stream) { return other.like(stream); }

DeviceNDArray device_array_like(const HostView& other, OnStream stream) {
    return make_array(form_like(other.dtype, other.layout), work_on("device_array_like", stream).stream);
}

DeviceNDArray to_device(const HostView& obj, OnStream stream, bool copy, DeviceNDArray* to, Deadline deadline) {
    DeviceNDArray array = to ? *to : device_array_like(obj, stream);
    if (copy) array.copy_to_device(obj, stream, deadline);
    return array;
}

DeviceNDArray to_device(const HostNDArray& obj, OnStream stream, bool copy, DeviceNDArray* to, Deadline deadline) {
    DeviceNDArray array = to ? *to : device_array_like(obj, stream);
    if (copy) array.copy_to_device(obj, stream, deadline);
    return array;
}

ArrayMemory array_memory(AgentRef gpu) {
    refuse_in_forked_child("array_memory");
    const auto device = detail::ArrayDevice::find(gpu);
    return device ? device->statistics() : ArrayMemory{};
}

std::size_t release_cached(AgentRef gpu) {
    refuse_in_forked_child("release_cached");
    const auto device = detail::ArrayDevice::find(gpu);
    return device ? device->release_cached() : 0;
}

}  // namespace hsadrv
