#include "hsadrv/executable_cache.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

#include "hsadrv/code/elf_header.hpp"
#include "hsadrv/code/md5.hpp"
#include "hsadrv/code/offload_bundle.hpp"

namespace hsadrv {
namespace {

std::vector<TargetId> isa_targets(AgentRef gpu) {
    std::vector<TargetId> targets;
    for (const Isa& isa : gpu.isas())
        if (auto target = TargetId::try_parse(isa.name)) targets.push_back(*std::move(target));
    return targets;
}

std::vector<Elf64_Phdr> segments_of(std::span<const std::byte> file) {
    const ElfHeader header = read_elf_header(file);
    std::vector<Elf64_Phdr> segments(header.program_headers);
    const auto table = file.subspan(header.program_headers_offset);
    const std::size_t size = segments.size() * sizeof(Elf64_Phdr);
    if (size > table.size()) refuse_elf("its program headers are outside of the file");
    if (size > 0) std::memcpy(segments.data(), table.data(), size);
    return segments;
}

/// Whether kernels can write to a part of it, hidden variables included: a writable segment that is not read-only after
/// relocation.
bool has_writable_data(std::span<const std::byte> file) {
    const std::vector<Elf64_Phdr> segments = segments_of(file);
    const auto is_relocated = [&](const Elf64_Phdr& load) {
        return std::any_of(segments.begin(), segments.end(), [&](const Elf64_Phdr& other) {
            const std::uint64_t offset = load.p_vaddr - other.p_vaddr;  // large if it begins earlier
            return other.p_type == PT_GNU_RELRO && offset <= other.p_memsz && load.p_memsz <= other.p_memsz - offset;
        });
    };
    return std::any_of(segments.begin(), segments.end(), [&](const Elf64_Phdr& segment) {
        return segment.p_type == PT_LOAD && (segment.p_flags & PF_W) && !is_relocated(segment);
    });
}

}  // namespace

struct ExecutableCache::State {
    struct Loaded {
        AgentRef gpu;
        std::uint64_t digest;
        std::vector<std::byte> bytes;
        Executable code;
    };
    using AllLoaded = std::list<Loaded>;  ///< the most recently used first

    explicit State(std::size_t most) : capacity(most) {}

    std::optional<Executable> find(AgentRef gpu, std::uint64_t digest, std::span<const std::byte> bytes) {
        const auto found = std::find_if(loaded.begin(), loaded.end(), [&](const Loaded& one) {
            return one.digest == digest && one.gpu == gpu && std::ranges::equal(one.bytes, bytes);
        });
        if (found == loaded.end()) return std::nullopt;
        loaded.splice(loaded.begin(), loaded, found);
        return found->code;
    }

    const std::size_t capacity;
    mutable std::mutex mutex;
    AllLoaded loaded;
};

ExecutableCache::ExecutableCache(std::size_t capacity) : state_(std::make_unique<State>(capacity)) {}
ExecutableCache::~ExecutableCache() = default;

Executable ExecutableCache::load(AgentRef gpu, std::span<const std::byte> bytes, const std::string& name) {
    const std::uint64_t digest = md5_low64(bytes);
    {
        const std::lock_guard lock(state_->mutex);
        if (auto known = state_->find(gpu, digest, bytes)) return *std::move(known);
    }
    Executable code = Executable::load(gpu, bytes, name);
    if (has_writable_data(extract_code_object(bytes, isa_targets(gpu)))) return code;
    State::AllLoaded dropped;  // destroyed after the lock: unloading may take other locks
    const std::lock_guard lock(state_->mutex);
    if (auto other = state_->find(gpu, digest, bytes)) return *std::move(other);
    state_->loaded.push_front({gpu, digest, {bytes.begin(), bytes.end()}, code});
    if (state_->loaded.size() > state_->capacity)
        dropped.splice(dropped.begin(), state_->loaded, std::prev(state_->loaded.end()));
    return code;
}

void ExecutableCache::clear() {
    State::AllLoaded dropped;
    const std::lock_guard lock(state_->mutex);
    dropped.swap(state_->loaded);
}

std::size_t ExecutableCache::size() const {
    const std::lock_guard lock(state_->mutex);
    return state_->loaded.size();
}

}  // namespace hsadrv
