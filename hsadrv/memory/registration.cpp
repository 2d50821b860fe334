#include "hsadrv/registration.hpp"

#include <hsa/hsa_ext_amd.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/memory/registrations.hpp"

namespace hsadrv {

namespace {

constexpr std::size_t page_bytes = detail::RegistrationBook::page_bytes;

std::uintptr_t address_of(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }
void* pointer_to(std::uintptr_t address) noexcept { return reinterpret_cast<void*>(address); }

using detail::hex;

std::string call_text(const char* function, const void* host, std::optional<std::size_t> size_bytes) {
    return std::string(function) + "(" + hex(host) + (size_bytes ? ", " + std::to_string(*size_bytes) + " B" : "") +
           ")";
}

[[noreturn]] void refuse(const std::string& message) {
    throw InvalidArgument(message, HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

void require_range(const std::string& call, const void* host, std::size_t size_bytes) {
    if (host == nullptr) refuse(call + ": the pointer is null");
    if (size_bytes == 0) refuse(call + ": an empty range cannot be registered");
    if (size_bytes > UINTPTR_MAX - page_bytes - address_of(host))
        refuse(call + ": the range runs past the end of the address space");
}

/// The first page of the range that is not mapped.
std::optional<std::uintptr_t> unmapped_page(std::uintptr_t begin, std::size_t size_bytes) {
    constexpr std::size_t at_once = 4096;
    unsigned char resident[at_once];
    const std::uintptr_t end = (begin + size_bytes + page_bytes - 1) / page_bytes * page_bytes;
    for (std::uintptr_t at = begin / page_bytes * page_bytes; at < end;) {
        const std::size_t pages = std::min<std::size_t>((end - at) / page_bytes, at_once);
        if (::mincore(pointer_to(at), pages * page_bytes, resident) == 0 || errno != ENOMEM) {
            at += pages * page_bytes;
        } else if (pages == 1) {
            return at;
        } else {  // inside this chunk: check page by page
            for (const std::uintptr_t stop = at + pages * page_bytes; at < stop; at += page_bytes)
                if (::mincore(pointer_to(at), page_bytes, resident) != 0 && errno == ENOMEM) return at;
        }
    }
    return std::nullopt;
}

void require_registrable(const std::string& call, void* host, std::size_t size_bytes) {
    for (const std::uintptr_t at : {address_of(host), address_of(host) + size_bytes - 1}) {
        const PointerInfo info = pointer_info(pointer_to(at));
        if (info.kind == PointerInfo::Kind::pool || info.kind == PointerInfo::Kind::other)
            refuse(call + ": " + hex(at) + " is in memory that the runtime allocated for " + info.owner.label() +
                   "; agents access it directly, see allow_access");
    }
    if (const auto hole = unmapped_page(address_of(host), size_bytes))
        refuse(call + ": the page at " + hex(*hole) + " is not mapped");
}

std::vector<std::uint64_t> gpus_of(const std::string& call, std::span<const AgentRef> agents, const Driver& driver) {
    std::vector<std::uint64_t> handles;
    if (agents.empty()) agents = driver.runtime().gpus();
    driver.runtime().require_known(call, agents);
    for (const AgentRef agent : agents)
        if (agent.is_gpu()) handles.push_back(agent.native().handle);
    if (handles.empty()) refuse(call + ": none of the agents is a GPU; a CPU accesses the memory directly");
    std::sort(handles.begin(), handles.end());
    handles.erase(std::unique(handles.begin(), handles.end()), handles.end());
    return handles;
}

}  // namespace

namespace detail {

Registrations::~Registrations() {
    if (in_forked_child()) return;
    try {
        while (const auto id = book_.any()) remove(*id);
    } catch (...) {  // the runtime shuts down and drops its locks
    }
}

RegistrationBook::Entry Registrations::add(void* host, std::size_t size_bytes, std::span<const AgentRef> agents,
                                           HostMemory kind, bool scoped) {
    const std::string call = call_text("hsadrv::register_memory", host, size_bytes);
    require_range(call, host, size_bytes);
    const HostRange range{address_of(host), size_bytes, static_cast<unsigned>(kind),
                          gpus_of(call, agents, Driver::current(call.c_str()))};
    require_registrable(call, host, size_bytes);
    {
        const std::lock_guard held(mutex_);
        if (const auto entry = book_.share(range, scoped)) return *entry;
    }
    return lock(range, scoped);
}

namespace {

/// A lock whose name is not the range's beginning must still cover the whole range; its pages extend back to it.
std::size_t size_from(const HostRange& range, std::uintptr_t name) noexcept {
    const std::uintptr_t end = range.begin + range.size_bytes;
    return end > name ? end - name : 1;
}

hsa_status_t native_lock(const HostRange& range, std::uintptr_t name, void** at_agents) {
    std::vector<hsa_agent_t> agents;
    for (const std::uint64_t handle : range.agents) agents.push_back({handle});
    return hsa_amd_memory_lock_to_pool(pointer_to(name), size_from(range, name), agents.data(),
                                       static_cast<int>(agents.size()),
                                       host_pool(static_cast<HostMemory>(range.kind)).native(), 0, at_agents);
}

bool is_locked(std::uintptr_t name) noexcept {
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    return hsa_amd_pointer_info(pointer_to(name), &info, nullptr, nullptr, nullptr) == HSA_STATUS_SUCCESS &&
           info.type == HSA_EXT_POINTER_TYPE_LOCKED && info.hostBaseAddress == pointer_to(name);
}

/// The runtime reports success even if the kernel driver failed, and still drops one use. So the lock is looked up. If
/// it still exists, the range is locked again so that the unlock can be retried. False: the range stays locked.
bool native_unlock(const HostLock& lock) {
    constexpr int tries = 3;
    for (int i = 0; i < tries; ++i) {
        hsa_amd_memory_unlock(pointer_to(lock.name));
        if (!is_locked(lock.name)) return true;
        void* at_agents = nullptr;
        if (i + 1 < tries && native_lock(lock.range, lock.name, &at_agents) != HSA_STATUS_SUCCESS) break;
    }
    return false;
}

}  // namespace

RegistrationBook::Entry Registrations::lock(const HostRange& range, bool scoped) {
    const auto call = [&] {
        return call_text("hsa_amd_memory_lock_to_pool", pointer_to(range.begin), range.size_bytes);
    };
    std::optional<std::uintptr_t> name;
    {
        const std::lock_guard held(mutex_);
        name = book_.reserve_name(range.begin);
    }
    if (!name)
        throw OutOfMemory(call() + ": " + std::to_string(page_bytes) + " registered ranges begin in this page",
                          HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    HostLock made{range, *name, 0};
    const std::unique_lock excluded(runtime_mutex_);
    try {
        void* at_agents = nullptr;
        check(native_lock(range, *name, &at_agents), call);
        made.device = address_of(at_agents) + range.begin - *name;
        const std::lock_guard held(mutex_);
        return {book_.add(made, scoped), made.device};
    } catch (...) {
        if (made.device == 0 || native_unlock(made)) {
            const std::lock_guard held(mutex_);
            book_.release_name(*name);
        }
        throw;
    }
}

void Registrations::remove(Id id) {
    std::optional<HostLock> last;
    {
        const std::lock_guard held(mutex_);
        last = book_.remove(id);
    }
    if (last) unlock(*last);
}

// A lock that cannot be undone keeps its name.
void Registrations::unlock(const HostLock& lock) {
    const std::unique_lock excluded(runtime_mutex_);
    if (!native_unlock(lock))
        throw Error(call_text("hsa_amd_memory_unlock", pointer_to(lock.range.begin), lock.range.size_bytes) +
                    ": the kernel driver refused to unlock the range, which stays locked");
    const std::lock_guard held(mutex_);
    book_.release_name(lock.name);
}

std::optional<Registrations::Id> Registrations::latest(const void* host, std::optional<std::size_t> size_bytes) const {
    const std::lock_guard held(mutex_);
    return book_.latest(address_of(host), size_bytes);
}

std::optional<HostLock> Registrations::covering(const void* pointer) const {
    const std::lock_guard held(mutex_);
    const HostLock* lock = book_.covering(address_of(pointer));
    return lock ? std::optional(*lock) : std::nullopt;
}

}  // namespace detail

void* register_memory(void* host, std::size_t size_bytes, std::span<const AgentRef> agents, HostMemory kind) {
    return detail::call_log::logged(
        detail::call_log::Area::memory, "hsadrv::register_memory",
        [&] { return hex(host) + ", " + std::to_string(size_bytes) + " B"; },
        [&] {
            const Driver driver = Driver::current("hsadrv::register_memory");
            return pointer_to(driver.runtime().registrations().add(host, size_bytes, agents, kind, false).device);
        });
}

void deregister_memory(void* host, std::optional<std::size_t> size_bytes) {
    const auto remove = [&] {
        const Driver driver = Driver::current("hsadrv::deregister_memory");
        detail::Registrations& known = driver.runtime().registrations();
        const auto id = known.latest(host, size_bytes);
        if (!id)
            refuse(call_text("hsadrv::deregister_memory", host, size_bytes) +
                   ": no current registration by register_memory has this range");
        known.remove(*id);
    };
    detail::call_log::logged(
        detail::call_log::Area::memory, "hsadrv::deregister_memory", [&] { return hex(host); }, remove);
}

void register_hint(void* host, std::size_t size_bytes) {
    const Driver driver = Driver::current("hsadrv::register_hint");
    const std::string call = call_text("hsa_memory_register", host, size_bytes);
    require_range(call, host, size_bytes);
    check(hsa_memory_register(host, size_bytes), call);
}

void deregister_hint(void* host, std::size_t size_bytes) {
    const Driver driver = Driver::current("hsadrv::deregister_hint");
    const std::string call = call_text("hsa_memory_deregister", host, size_bytes);
    require_range(call, host, size_bytes);
    check(hsa_memory_deregister(host, size_bytes), call);
}

Registration::Registration(void* host, std::size_t size_bytes, std::span<const AgentRef> agents, HostMemory kind)
    : host_(host), size_bytes_(size_bytes) {
    const Driver driver = Driver::current("hsadrv::Registration");
    const auto entry = detail::call_log::logged(
        detail::call_log::Area::memory, "Registration::Registration",
        [&] { return hex(host) + ", " + std::to_string(size_bytes) + " B"; },
        [&] { return driver.runtime().registrations().add(host, size_bytes, agents, kind, true); });
    id_ = UniqueHandle<Traits>(entry.id, driver);
    device_address_ = pointer_to(entry.device);
}

void Registration::Traits::destroy(Native id) noexcept {
    // The handle keeps the runtime alive until after this call.
    try {
        const auto runtime = detail::Runtime::find();
        if (!runtime) return;
        detail::call_log::logged(
            detail::call_log::Area::memory, "Registration::~Registration",
            [&] { return "registration " + std::to_string(id); }, [&] { runtime->registrations().remove(id); });
    } catch (const std::exception&) {  // a refused unlock: the runtime keeps the lock
    }
}

}  // namespace hsadrv
