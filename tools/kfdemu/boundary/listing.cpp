// Interposed directory calls (opendir, readdir, …) for emulated directories. The DIR* is the address of a Listing.
//
// The addresses of open listings are in a lock-free table: readdir() in a forked child must not wait for a thread that
// does not exist there.
#undef _FILE_OFFSET_BITS  // readdir and readdir64 are both defined here

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/boundary/folders.hpp"
#include "tools/kfdemu/boundary/libc.hpp"

namespace kfdemu {
namespace {

struct Listing {
    std::vector<std::string> names;
    std::size_t position = 0;
    struct dirent entry{};
    std::string path;
    int fd;  // -1 until dirfd() asks for it

    void add_names_of(const char* folder);
    explicit Listing(const sysfs::Directory& directory, int opened = -1)
        : names{directory.names}, path{directory.path}, fd{opened} {
        if (!directory.beside.empty()) add_names_of(directory.beside.c_str());
        names.insert(names.begin(), {".", ".."});
    }
};

void Listing::add_names_of(const char* folder) {
    DIR* real = NEXT(opendir)(folder);
    if (!real) return;
    while (const struct dirent* found = NEXT(readdir)(real)) {
        const std::string name = found->d_name;
        const bool ours = std::find(names.begin(), names.end(), name) != names.end();
        if (name != "." && name != ".." && !ours) names.push_back(name);
    }
    NEXT(closedir)(real);
}

// Acquire and release: a thread may read a listing that another thread opened. The size is far above what a program has
// open at once; beyond it, opendir() fails with EMFILE.
std::array<std::atomic<Listing*>, 256> listings;
std::atomic<int> open_listings{0};  // relaxed: a thread that reads a listing has seen opendir() return

/// Takes `fd` on success.
DIR* open_listing(const sysfs::Directory& directory, int fd = -1) {
    auto* listing = new Listing{directory, fd};
    for (auto& slot : listings) {
        Listing* none = nullptr;
        if (!slot.compare_exchange_strong(none, listing, std::memory_order_release, std::memory_order_relaxed))
            continue;
        open_listings.fetch_add(1, std::memory_order_relaxed);
        return reinterpret_cast<DIR*>(listing);
    }
    delete listing;
    log(LogLevel::warning, "more than {} emulated directories are open", listings.size());
    return errno = EMFILE, nullptr;
}

Listing* as_listing(DIR* directory) {
    if (!directory || open_listings.load(std::memory_order_relaxed) == 0) return nullptr;
    for (auto& slot : listings) {
        Listing* listing = slot.load(std::memory_order_acquire);
        if (reinterpret_cast<DIR*>(listing) == directory) return listing;
    }
    return nullptr;
}

struct dirent* next_name(Listing& listing) {
    if (listing.position >= listing.names.size()) return nullptr;
    const std::string& name = listing.names[listing.position++];
    listing.entry = {};
    listing.entry.d_ino = listing.position;
    listing.entry.d_off = static_cast<off_t>(listing.position);
    listing.entry.d_reclen = sizeof listing.entry;
    listing.entry.d_type = DT_UNKNOWN;
    name.copy(listing.entry.d_name, sizeof listing.entry.d_name - 1);
    return &listing.entry;
}

/// Implements readdir_r, which reports the end through `result`.
int next_name_into(Listing& listing, struct dirent* entry, struct dirent** result) {
    const struct dirent* name = next_name(listing);
    *result = name ? entry : nullptr;
    if (name) *entry = *name;
    return 0;
}

int close_listing(Listing* listing) {
    for (auto& slot : listings) {
        Listing* expected = listing;
        if (!slot.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed)) continue;
        open_listings.fetch_sub(1, std::memory_order_relaxed);
        if (listing->fd >= 0) close(listing->fd);
        delete listing;
        return 0;
    }
    return errno = EBADF, -1;
}

/// Implements scandir: the names accepted by `wanted`, sorted by `order`. The caller frees each entry and the array.
template <class Entry>
int scan(const sysfs::Directory& directory, Entry*** result, int (*wanted)(const Entry*),
         int (*order)(const Entry**, const Entry**)) {
    static_assert(sizeof(Entry) == sizeof(struct dirent), "one layout on a 64-bit system");
    Listing listing{directory};
    auto** entries = static_cast<Entry**>(std::calloc(listing.names.size(), sizeof(Entry*)));
    if (!entries) return errno = ENOMEM, -1;
    int count = 0;
    while (const struct dirent* name = next_name(listing)) {
        const auto* seen = reinterpret_cast<const Entry*>(name);
        if (wanted && wanted(seen) == 0) continue;
        entries[count] = static_cast<Entry*>(std::malloc(sizeof(Entry)));
        if (!entries[count]) {
            while (count > 0) std::free(entries[--count]);
            std::free(entries);
            return errno = ENOMEM, -1;
        }
        std::memcpy(entries[count++], seen, sizeof(Entry));
    }
    if (order) std::sort(entries, entries + count, [&](const Entry* a, const Entry* b) { return order(&a, &b) < 0; });
    *result = entries;
    return count;
}

int not_a_folder(const sysfs::Entry& entry) { return std::holds_alternative<sysfs::Missing>(entry) ? ENOENT : ENOTDIR; }

}  // namespace
}  // namespace kfdemu

using namespace kfdemu;

EXPORT DIR* opendir(const char* path) {
    auto entry = find(path);
    if (!entry) return NEXT(opendir)(path);
    if (auto* directory = sysfs::folder_of(*entry)) return open_listing(*directory);
    errno = not_a_folder(*entry);
    return nullptr;
}

EXPORT DIR* fdopendir(int fd) {
    const std::string path = folder_path(fd);
    auto entry = find(path.c_str());
    const auto* directory = entry ? sysfs::folder_of(*entry) : nullptr;
    return directory ? open_listing(*directory, fd) : NEXT(fdopendir)(fd);
}

EXPORT struct dirent* readdir(DIR* directory) {
    if (Listing* listing = as_listing(directory)) return next_name(*listing);
    return NEXT(readdir)(directory);
}

EXPORT struct dirent64* readdir64(DIR* directory) {
    if (Listing* listing = as_listing(directory)) return reinterpret_cast<struct dirent64*>(next_name(*listing));
    return NEXT(readdir64)(directory);
}

// Deprecated, but still called.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
EXPORT int readdir_r(DIR* directory, struct dirent* entry, struct dirent** result) {
    if (Listing* listing = as_listing(directory)) return next_name_into(*listing, entry, result);
    return NEXT(readdir_r)(directory, entry, result);
}

EXPORT int readdir64_r(DIR* directory, struct dirent64* entry, struct dirent64** result) {
    if (Listing* listing = as_listing(directory))
        return next_name_into(*listing, reinterpret_cast<struct dirent*>(entry),
                              reinterpret_cast<struct dirent**>(result));
    return NEXT(readdir64_r)(directory, entry, result);
}
#pragma GCC diagnostic pop

EXPORT void rewinddir(DIR* directory) noexcept {
    if (Listing* listing = as_listing(directory)) {
        listing->position = 0;
        return;
    }
    NEXT(rewinddir)(directory);
}

EXPORT long telldir(DIR* directory) noexcept {
    if (Listing* listing = as_listing(directory)) return static_cast<long>(listing->position);
    return NEXT(telldir)(directory);
}

EXPORT void seekdir(DIR* directory, long position) noexcept {
    if (Listing* listing = as_listing(directory)) {
        listing->position = static_cast<std::size_t>(position);
        return;
    }
    NEXT(seekdir)(directory, position);
}

EXPORT int dirfd(DIR* directory) noexcept {
    Listing* listing = as_listing(directory);
    if (!listing) return NEXT(dirfd)(directory);
    if (listing->fd < 0) listing->fd = open_folder({.names = {}, .path = listing->path}, O_RDONLY | O_CLOEXEC);
    return listing->fd;
}

EXPORT int closedir(DIR* directory) {
    if (Listing* listing = as_listing(directory)) return close_listing(listing);
    return NEXT(closedir)(directory);
}

EXPORT int scandir(const char* path, struct dirent*** entries, int (*wanted)(const struct dirent*),
                   int (*order)(const struct dirent**, const struct dirent**)) {
    auto entry = find(path);
    if (!entry) return NEXT(scandir)(path, entries, wanted, order);
    if (auto* directory = sysfs::folder_of(*entry)) return scan(*directory, entries, wanted, order);
    return errno = not_a_folder(*entry), -1;
}

EXPORT int scandir64(const char* path, struct dirent64*** entries, int (*wanted)(const struct dirent64*),
                     int (*order)(const struct dirent64**, const struct dirent64**)) {
    auto entry = find(path);
    if (!entry) return NEXT(scandir64)(path, entries, wanted, order);
    if (auto* directory = sysfs::folder_of(*entry)) return scan(*directory, entries, wanted, order);
    return errno = not_a_folder(*entry), -1;
}
