#include "hsadrv/compile/cache_folder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "hsadrv/compile/llvm_places.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/file_bytes.hpp"

namespace hsadrv::detail {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view ending = ".hsadrv", temporary = ".tmp-";
constexpr std::chrono::minutes longest_write{10};

/// Bytes that this process has stored since it last measured the folder.
std::atomic<std::uint64_t> stored_bytes{UINT64_MAX / 2};  // so that the first store measures

class File {
  public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int get() const { return descriptor_; }

  private:
    int descriptor_;
};

bool read_all(int file, std::span<std::byte> to) {
    while (!to.empty()) {
        const ssize_t got = ::read(file, to.data(), to.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to = to.subspan(static_cast<std::size_t>(got));
    }
    return true;
}

bool write_all(int file, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t put = ::write(file, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return true;
}

struct Aged {
    fs::file_time_type used;
    std::uint64_t size_bytes;
    fs::path file;
};

/// The entries; removes what was being written long ago.
std::vector<Aged> entries_of(const fs::path& folder) {
    std::vector<Aged> all;
    std::error_code error;
    const auto now = fs::file_time_type::clock::now();
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        std::error_code gone;  // another process may remove it at any time
        const std::string name = at->path().filename().string();
        const auto used = at->last_write_time(gone);
        if (gone) continue;
        if (name.starts_with(temporary) && now - used > longest_write) fs::remove(at->path(), gone);
        if (!name.ends_with(ending)) continue;
        const auto size = at->file_size(gone);
        if (!gone) all.push_back({used, size, at->path()});
    }
    return all;
}

}  // namespace

std::uint64_t parse_size(const std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    const std::string_view unit(stopped, static_cast<std::size_t>(end - stopped));
    unsigned shift = 0;
    if (unit == "K") shift = 10;
    if (unit == "M") shift = 20;
    if (unit == "G") shift = 30;
    const bool fits = number <= (UINT64_MAX >> shift);
    if (error == std::errc{} && fits && (unit.empty() || shift != 0)) return number << shift;
    throw InvalidArgument("HSADRV_CACHE_SIZE=" + text +
                          ": not a size; give bytes, or a number followed by K, M or G, such as 256M");
}

CachePlace cache_place() {
    CachePlace place;
    const std::string set = variable("HSADRV_CACHE"), size = variable("HSADRV_CACHE_SIZE");
    if (!size.empty()) place.limit_bytes = parse_size(size);
    if (set == "off") return place;
    const std::string caches = variable("XDG_CACHE_HOME"), home = variable("HOME");
    if (!set.empty())
        place.folder = set;
    else if (caches.starts_with('/'))  // the XDG base directory specification: others are ignored
        place.folder = caches + "/hsadrv";
    else if (!home.empty())
        place.folder = home + "/.cache/hsadrv";
    return place;
}

std::string CacheFolder::file_of(const std::string& key) const {
    return place_.folder + "/" + digest_of(std::as_bytes(std::span(key))).append(ending);
}

std::uint64_t CacheFolder::most_bytes() const {
    return std::min<std::uint64_t>(place_.limit_bytes, max_code_file_bytes);
}

std::optional<CacheEntry> CacheFolder::load(const std::string& key) const {
    if (place_.folder.empty()) return {};
    const std::string name = file_of(key);
    const File file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat facts;
    if (file.get() < 0 || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
    if (facts.st_uid != geteuid()) return {};
    std::optional<CacheEntry> entry;
    if (static_cast<std::uint64_t>(facts.st_size) <= most_bytes()) {  // such as write() makes
        std::vector<std::byte> bytes(static_cast<std::size_t>(facts.st_size));
        if (read_all(file.get(), bytes)) entry = unpack(bytes);
    }
    if (!entry) {
        unlink(name.c_str());
        return {};
    }
    if (entry->key != key) return {};
    futimens(file.get(), nullptr);
    return entry;
}

void CacheFolder::write(const CacheEntry& entry) const {
    const std::vector<std::byte> bytes = pack(entry);
    if (bytes.size() > most_bytes()) return;
    std::error_code error;
    if (fs::create_directories(place_.folder, error)) fs::permissions(place_.folder, fs::perms::owner_all, error);
    std::string name = place_.folder + "/" + std::string(temporary) + "XXXXXX";
    const File file(mkostemp(name.data(), O_CLOEXEC));
    if (file.get() < 0) return;
    if (!write_all(file.get(), bytes) || std::rename(name.c_str(), file_of(entry.key).c_str()) != 0) {
        unlink(name.c_str());
        return;
    }
    if (stored_bytes.fetch_add(bytes.size(), std::memory_order_relaxed) + bytes.size() < place_.limit_bytes / 16)
        return;
    stored_bytes.store(0, std::memory_order_relaxed);
    trim();
}

void CacheFolder::store(const CacheEntry& entry) const noexcept {
    if (place_.folder.empty()) return;
    try {
        write(entry);
    } catch (const std::exception&) {
        // Out of memory, or a folder's name that is none: the compilation has succeeded all the same.
    }
}

void CacheFolder::trim() const noexcept {
    try {
        std::vector<Aged> all = entries_of(place_.folder);
        std::uint64_t total = 0;
        for (const Aged& entry : all) total += entry.size_bytes;
        if (total <= place_.limit_bytes) return;
        std::sort(all.begin(), all.end(), [](const Aged& a, const Aged& b) { return a.used < b.used; });
        for (const Aged& entry : all) {
            if (total <= place_.limit_bytes - place_.limit_bytes / 10) break;
            std::error_code gone;
            fs::remove(entry.file, gone);
            total -= entry.size_bytes;
        }
    } catch (const std::exception&) {
        // The next store tries again.
    }
}

}  // namespace hsadrv::detail
