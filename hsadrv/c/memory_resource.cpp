#include "hsadrv/memory_resource.hpp"

#include <bit>
#include <functional>

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/memory_resource.h"
#include "hsadrv/c/objects.hpp"
#include "hsadrv/c/structures.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

constexpr std::size_t usual_alignment_bytes = 256;

struct MemoryResourceObject {
    static constexpr HandleKind kind = HandleKind::memory_resource;
    std::function<void*(std::size_t, std::size_t, hsadrv_stream, Stream&)> allocate;  // null: it has none
    std::function<void(void*, std::size_t, std::size_t)> deallocate;
    uint64_t agent = 0;  // as MemoryObject's
};

/// The program's functions, until the last allocation is gone.
struct ProgramResource {
    hsadrv_memory_callbacks callbacks;

    explicit ProgramResource(const hsadrv_memory_callbacks& given) noexcept : callbacks(given) {
        callbacks.release = nullptr;
    }
    ProgramResource(const ProgramResource&) = delete;
    ProgramResource& operator=(const ProgramResource&) = delete;
    ~ProgramResource() {
        if (callbacks.release) callbacks.release(callbacks.user);
    }
};

/// An allocation from a resource.
class ResourceMemory {
  public:
    ResourceMemory(std::shared_ptr<const MemoryResourceObject> resource, void* data, std::size_t size_bytes,
                   std::size_t alignment_bytes) noexcept
        : resource_(std::move(resource)), data_(data), size_bytes_(size_bytes), alignment_bytes_(alignment_bytes) {}
    ResourceMemory(ResourceMemory&& other) noexcept
        : resource_(std::move(other.resource_)),
          data_(std::exchange(other.data_, nullptr)),
          size_bytes_(other.size_bytes_),
          alignment_bytes_(other.alignment_bytes_) {}
    ResourceMemory& operator=(ResourceMemory&&) = delete;
    ~ResourceMemory() {
        if (data_) resource_->deallocate(data_, size_bytes_, alignment_bytes_);
    }
    void* data() const noexcept { return data_; }

  private:
    std::shared_ptr<const MemoryResourceObject> resource_;
    void* data_;
    std::size_t size_bytes_, alignment_bytes_;
};

std::string request_text(const char* call, std::size_t size_bytes, std::size_t alignment_bytes) {
    return std::string(call) + "(" + std::to_string(size_bytes) + " B, aligned to " + std::to_string(alignment_bytes) +
           ")";
}

}  // namespace

hsadrv_result hsadrv_memory_resource_create(hsadrv_driver driver, const hsadrv_memory_callbacks* callbacks,
                                            hsadrv_memory_resource* resource) noexcept {
    return call("hsadrv_memory_resource_create", [&](const char* name) {
        output(name, "resource", resource) = nullptr;
        const auto held = object<DriverObject>(name, "driver", driver);
        const auto given = read_structure(name, "callbacks", required(name, "callbacks", callbacks), sizeof *callbacks);
        if (!given.allocate) refuse_null(name, "callbacks.allocate");
        if (!given.deallocate) refuse_null(name, "callbacks.deallocate");
        const auto program = std::make_shared<ProgramResource>(given);
        const auto made = std::make_shared<MemoryResourceObject>();
        made->allocate = [program](std::size_t size_bytes, std::size_t alignment_bytes, hsadrv_stream stream, Stream&) {
            return program->callbacks.allocate(size_bytes, alignment_bytes, stream, program->callbacks.user);
        };
        made->deallocate = [program](void* data, std::size_t size_bytes, std::size_t alignment_bytes) {
            program->callbacks.deallocate(data, size_bytes, alignment_bytes, program->callbacks.user);
        };
        const auto handle = handle_of<hsadrv_memory_resource>(made);
        program->callbacks.release = given.release;  // no other thread has the handle yet
        *resource = handle;
    });
}

hsadrv_result hsadrv_memory_resource_create_cache(hsadrv_device device, uint32_t kind, size_t limit_bytes,
                                                  hsadrv_memory_resource* resource) noexcept {
    return call("hsadrv_memory_resource_create_cache", [&](const char* name) {
        output(name, "resource", resource) = nullptr;
        const AgentRef gpu = object<DeviceObject>(name, "device", device)->agent;
        AllocatorOptions options;
        if (limit_bytes) options.limit_bytes = limit_bytes;
        const auto cache = std::make_shared<AllocatorResource>(pool_of(name, gpu, kind), options);
        const auto made = std::make_shared<MemoryResourceObject>();
        made->allocate = [cache](std::size_t size_bytes, std::size_t alignment_bytes, hsadrv_stream, Stream& stream) {
            return cache->allocate(size_bytes, alignment_bytes, stream);
        };
        made->deallocate = [cache](void* data, std::size_t size_bytes, std::size_t alignment_bytes) {
            cache->deallocate(data, size_bytes, alignment_bytes);
        };
        if (of_device(kind)) made->agent = gpu.native().handle;
        *resource = handle_of<hsadrv_memory_resource>(made);
    });
}

hsadrv_result hsadrv_memory_resource_destroy(hsadrv_memory_resource resource) noexcept {
    return call("hsadrv_memory_resource_destroy",
                [&](const char* name) { take_object<MemoryResourceObject>(name, "resource", resource).reset(); });
}

hsadrv_result hsadrv_memory_create_from(hsadrv_memory_resource resource, hsadrv_stream stream, size_t size_bytes,
                                        size_t alignment_bytes, hsadrv_memory* memory) noexcept {
    return call("hsadrv_memory_create_from", [&](const char* name) {
        output(name, "memory", memory) = nullptr;
        const auto from = object<MemoryResourceObject>(name, "resource", resource);
        const auto held = object<StreamObject>(name, "stream", stream);
        const std::size_t aligned = alignment_bytes ? alignment_bytes : usual_alignment_bytes;
        const std::string request = request_text(name, size_bytes, aligned);
        if (!std::has_single_bit(aligned)) throw InvalidArgument(request + ": the alignment is no power of two");
        void* const data = size_bytes ? from->allocate(size_bytes, aligned, stream, held->stream) : nullptr;
        ResourceMemory made(from, data, size_bytes, aligned);
        if (size_bytes && !data) throw OutOfMemory(request + ": the resource has returned null");
        if (reinterpret_cast<std::uintptr_t>(data) % aligned)
            throw InvalidArgument(request + ": the resource has returned an address that is not aligned");
        *memory = memory_handle(std::move(made), size_bytes, from->agent);
    });
}
