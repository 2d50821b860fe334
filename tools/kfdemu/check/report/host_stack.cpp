#include "tools/kfdemu/check/report/host_stack.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "tools/kfdemu/check/report/elf_symbols.hpp"
#include "tools/kfdemu/check/report/lines_module.hpp"

namespace kfdemu::check {
namespace {

constexpr int kMostFrames = 32;

using Addresses = std::vector<void*>;

// No lock is held while the dynamic linker is asked, because the thread that has its lock may need ours.
struct Stacks {
    std::mutex mutex;
    std::map<Addresses, StackId> ids;
    std::vector<const Addresses*> by_id;               // [id - 1]
    std::map<void*, std::vector<HostFrame>> resolved;  // by return address, or by a caller
    std::map<std::string, char> callers;               // the addresses of the values stand for them
};

thread_local void* caller = nullptr;       // a value of Stacks::callers
std::atomic<Stacks*> all_stacks{nullptr};  // release when created; outlives every exit handler

Stacks& stacks() {
    Stacks* known = all_stacks.load(std::memory_order_acquire);
    if (known != nullptr) return *known;
    auto created = std::make_unique<Stacks>();
    if (all_stacks.compare_exchange_strong(known, created.get(), std::memory_order_acq_rel)) known = created.release();
    return *known;
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The object's file that holds the address, and null if none does.
const void* object_at(const void* address, std::string_view& file) {
    Dl_info info{};
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return nullptr;
    file = info.dli_fname;
    return info.dli_fbase;
}

/// This library, and the runtime that called it.
bool is_inner(const void* address) {
    static std::atomic<const void*> known{nullptr};  // relaxed: all threads find the same
    std::string_view file;
    const void* own = known.load(std::memory_order_relaxed);
    if (own == nullptr) known = own = object_at(reinterpret_cast<const void*>(&capture_stack), file);
    const void* object = object_at(address, file);
    return object != nullptr && (object == own || base_name(file).substr(0, 16) == "libhsa-runtime64");
}

/// A file in memory, unmapped at the end.
class MappedFile {
  public:
    explicit MappedFile(const char* path) {
        const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
        struct stat status{};
        if (fd < 0) return;
        if (fstat(fd, &status) == 0 && status.st_size > 0) {
            void* data = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
            if (data != MAP_FAILED)
                bytes_ = {static_cast<const std::byte*>(data), static_cast<std::size_t>(status.st_size)};
        }
        ::close(fd);
    }
    ~MappedFile() {
        if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const { return bytes_; }

  private:
    std::span<const std::byte> bytes_;
};

/// The frames of one return address: the function, preceded by those that were inlined into it.
std::vector<HostFrame> resolve(const void* return_address) {
    const auto pc = reinterpret_cast<std::uint64_t>(return_address) - 1;
    Dl_info info{};
    link_map* map = nullptr;
    if (dladdr1(reinterpret_cast<const void*>(pc), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
        map == nullptr)
        return {{}};
    const bool program = map->l_name == nullptr || *map->l_name == 0;
    const MappedFile file{program ? "/proc/self/exe" : map->l_name};
    const std::string object{base_name(info.dli_fname)};
    std::string symbol = function_at(file.bytes(), pc - map->l_addr);
    if (symbol.empty() && info.dli_sname != nullptr) symbol = info.dli_sname;
    std::vector<HostFrame> frames;
    for (Frame& frame : source_lines(file.bytes(), pc - map->l_addr)) frames.push_back({std::move(frame), object});
    if (frames.empty()) frames.push_back({{}, object});
    if (!symbol.empty()) frames.back().function = readable(symbol);
    return frames;
}

std::vector<HostFrame> resolved(void* return_address) {
    Stacks& all = stacks();
    std::unique_lock lock{all.mutex};
    const auto found = all.resolved.find(return_address);
    if (found != all.resolved.end()) return found->second;
    lock.unlock();
    std::vector<HostFrame> frames = resolve(return_address);
    lock.lock();
    return all.resolved.try_emplace(return_address, std::move(frames)).first->second;
}

}  // namespace

/// The old ones leak: a thread that the child does not have may hold their lock.
void forget_stacks() { all_stacks.store(nullptr, std::memory_order_release); }

namespace {

StackId id_of(Addresses addresses) {
    Stacks& all = stacks();
    const std::lock_guard lock{all.mutex};
    const auto [at, is_new] = all.ids.try_emplace(std::move(addresses), StackId{0});
    if (is_new) {
        all.by_id.push_back(&at->first);
        at->second = static_cast<StackId>(all.by_id.size());
    }
    return at->second;
}

}  // namespace

void set_caller(const char* place) {
    caller = nullptr;
    if (place == nullptr) return;
    std::string text = place;
    const std::size_t colon = text.rfind(':'), in = text.find(" in ", colon == text.npos ? 0 : colon);
    HostFrame frame;
    frame.file = text.substr(0, colon);
    if (colon != text.npos)
        frame.line = static_cast<std::uint32_t>(std::strtoul(text.c_str() + colon + 1, nullptr, 10));
    if (in != text.npos) frame.function = text.substr(in + 4);
    Stacks& all = stacks();
    const std::lock_guard lock{all.mutex};
    caller = &all.callers[std::move(text)];
    all.resolved.try_emplace(caller, std::vector{std::move(frame)});
}

StackId capture_stack() {
    if (caller != nullptr) return id_of({caller});
    void* frames[kMostFrames];
    void** const end = frames + backtrace(frames, kMostFrames);
    return id_of(Addresses(std::find_if_not(frames, end, is_inner), end));
}

StackId stack_at(std::uint64_t pc) {
    return pc == 0 ? kNoStack : id_of({reinterpret_cast<void*>(pc + 1)});  // as a return address
}

std::vector<HostFrame> host_frames(StackId id) {
    std::unique_lock lock{stacks().mutex};
    if (id == kNoStack || id > stacks().by_id.size()) return {};
    const Addresses& addresses = *stacks().by_id[id - 1];  // kept for the process's life
    lock.unlock();
    std::vector<HostFrame> frames;
    for (void* address : addresses) {
        const std::vector<HostFrame> here = resolved(address);
        frames.insert(frames.end(), here.begin(), here.end());
        if (here.back().function == "main") break;
    }
    return frames;
}

}  // namespace kfdemu::check
