#include "hsadrv/compile/cache_entry.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "hsadrv/code/md5.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/file_bytes.hpp"

namespace hsadrv::detail {
namespace {

/// The first line. Another format has another one, and its entries are misses.
constexpr std::string_view magic = "hsadrv code object 1\n";
constexpr std::size_t digest_digits = 32;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

class Writer {
  public:
    void number(std::uint64_t value) { raw(std::as_bytes(std::span(&value, 1))); }
    void text(std::string_view value) {
        number(value.size());
        raw(bytes_of(value));
    }
    void bytes(std::span<const std::byte> value) {
        number(value.size());
        raw(value);
    }
    void raw(std::span<const std::byte> value) { bytes_.insert(bytes_.end(), value.begin(), value.end()); }
    const std::vector<std::byte>& made() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

/// Every read is checked; after the first failure all are empty.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::uint64_t number() {
        std::uint64_t value = 0;
        const auto part = take(sizeof value);
        if (!part.empty()) std::memcpy(&value, part.data(), sizeof value);
        return value;
    }
    std::span<const std::byte> bytes() { return take(number()); }
    std::string text() {
        const auto part = bytes();
        return std::string(reinterpret_cast<const char*>(part.data()), part.size());
    }
    bool is_complete() const { return good_ && bytes_.empty(); }
    bool good() const { return good_; }

  private:
    std::span<const std::byte> take(std::uint64_t count) {
        good_ = good_ && count <= bytes_.size();
        if (!good_) return {};
        const auto part = bytes_.first(count);
        bytes_ = bytes_.subspan(count);
        return part;
    }

    std::span<const std::byte> bytes_;
    bool good_ = true;
};

std::string stamp_of(const std::string& path) {
    struct stat facts;
    if (stat(path.c_str(), &facts) != 0) return "";
    return std::to_string(facts.st_size) + " " + std::to_string(facts.st_mtim.tv_sec) + "." +
           std::to_string(facts.st_mtim.tv_nsec) + " " + std::to_string(facts.st_ino);
}

}  // namespace

std::string digest_of(std::span<const std::byte> bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint32_t word : md5(bytes))
        for (unsigned byte = 0; byte < 4; ++byte) {
            text += digits[word >> (8 * byte + 4) & 15];
            text += digits[word >> (8 * byte) & 15];
        }
    return text;
}

std::optional<std::string> fingerprint(Dependency::By by, const std::string& path) {
    if (by == Dependency::By::stamp) {
        const std::string stamp = stamp_of(path);
        return stamp.empty() ? std::nullopt : std::optional(stamp);
    }
    try {
        return digest_of(read_file(path));
    } catch (const Error&) {
        return std::nullopt;
    }
}

bool is_current(const CacheEntry& entry) {
    return std::all_of(entry.dependencies.begin(), entry.dependencies.end(), [](const Dependency& dependency) {
        return fingerprint(dependency.by, dependency.path) == dependency.fingerprint;
    });
}

std::vector<std::byte> pack(const CacheEntry& entry) {
    Writer body;
    body.text(entry.key);
    body.number(entry.dependencies.size());
    for (const Dependency& dependency : entry.dependencies) {
        body.number(static_cast<std::uint64_t>(dependency.by));
        body.text(dependency.path);
        body.text(dependency.fingerprint);
    }
    body.text(entry.printed);
    body.text(entry.clang);
    body.bytes(entry.code_object);
    Writer file;
    file.raw(bytes_of(magic));
    file.raw(bytes_of(digest_of(body.made())));
    file.raw(body.made());
    return file.made();
}

std::optional<CacheEntry> unpack(std::span<const std::byte> bytes) {
    constexpr std::size_t head = magic.size() + digest_digits;
    if (bytes.size() < head || !std::ranges::equal(bytes.first(magic.size()), bytes_of(magic))) return {};
    const auto body = bytes.subspan(head);
    if (!std::ranges::equal(bytes.subspan(magic.size(), digest_digits), bytes_of(digest_of(body)))) return {};

    Reader reader(body);
    CacheEntry entry;
    entry.key = reader.text();
    for (std::uint64_t left = reader.number(); left > 0 && reader.good(); --left) {
        const auto by = static_cast<Dependency::By>(reader.number());
        if (by != Dependency::By::content && by != Dependency::By::stamp) return {};
        std::string path = reader.text();
        entry.dependencies.push_back({by, std::move(path), reader.text()});
    }
    entry.printed = reader.text();
    entry.clang = reader.text();
    const auto code_object = reader.bytes();
    entry.code_object.assign(code_object.begin(), code_object.end());
    if (!reader.is_complete()) return {};
    return entry;
}

}  // namespace hsadrv::detail
