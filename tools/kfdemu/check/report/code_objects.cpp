#include "tools/kfdemu/check/report/code_objects.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "tools/kfdemu/base/parse_number.hpp"
#include "tools/kfdemu/check/report/elf_symbols.hpp"
#include "tools/kfdemu/check/report/lines_module.hpp"

namespace kfdemu::check {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kLargest = std::size_t{1} << 30;  ///< larger code objects are not read

bool read_memory(const void* from, void* to, std::size_t bytes) {
    const iovec local{to, bytes}, remote{const_cast<void*>(from), bytes};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

std::string read_text(const char* from) {
    std::string text;
    for (char c; text.size() < 4096 && read_memory(from + text.size(), &c, 1) && c != 0;) text += c;
    return text;
}

/// "%20" and the like.
std::string decoded(std::string_view text) {
    std::string out;
    for (; !text.empty(); text.remove_prefix(1)) {
        unsigned value = 0;
        if (text[0] == '%' && text.size() >= 3 && parse_number(text.substr(1, 2), value, 16)) {
            out += static_cast<char>(value);
            text.remove_prefix(2);
        } else {
            out += text[0];
        }
    }
    return out;
}

/// The number after "NAME=" in the URI's fragment; 0 if there is none.
std::uint64_t field(std::string_view fragment, std::string_view name) {
    const auto at = fragment.find(name);
    if (at == fragment.npos) return 0;
    std::string_view digits = fragment.substr(at + name.size());
    digits = digits.substr(0, digits.find('&'));
    const bool hex = digits.substr(0, 2) == "0x";
    if (hex) digits.remove_prefix(2);
    std::uint64_t value = 0;
    return parse_number(digits, value, hex ? 16 : 10) ? value : 0;
}

Bytes file_bytes(const std::string& path, std::uint64_t offset, std::uint64_t size) {
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (file == nullptr) return {};
    if (size == 0 && std::fseek(file, 0, SEEK_END) == 0) size = static_cast<std::uint64_t>(std::ftell(file)) - offset;
    Bytes bytes(size <= kLargest ? size : 0);
    const bool read = std::fseek(file, static_cast<long>(offset), SEEK_SET) == 0 &&
                      std::fread(bytes.data(), 1, bytes.size(), file) == bytes.size();
    std::fclose(file);
    return read ? bytes : Bytes{};
}

/// file://PATH#offset=N&size=N or memory://PID#offset=ADDRESS&size=N.
Bytes code_object(std::string_view uri) {
    constexpr std::string_view kFile = "file://", kMemory = "memory://";
    const auto hash = uri.find('#');
    const std::string_view fragment = hash == uri.npos ? "" : uri.substr(hash + 1);
    const std::uint64_t offset = field(fragment, "offset="), size = field(fragment, "size=");
    if (uri.substr(0, kFile.size()) == kFile)
        return file_bytes(decoded(uri.substr(kFile.size(), hash - kFile.size())), offset, size);
    if (uri.substr(0, kMemory.size()) != kMemory || size > kLargest) return {};
    Bytes bytes(size);
    if (!read_memory(reinterpret_cast<const void*>(offset), bytes.data(), size)) return {};
    return bytes;
}

const r_debug* loader_list() {
    void* runtime = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (runtime == nullptr) return nullptr;
    const void* list = dlsym(runtime, "_amdgpu_r_debug");
    dlclose(runtime);  // it stays loaded by its users
    return static_cast<const r_debug*>(list);
}

/// Calls use(entry) for each loaded code object until it returns true.
template <class Use>
void each_loaded(Use&& use) {
    const r_debug* list = loader_list();
    r_debug head{};
    if (list == nullptr || !read_memory(list, &head, sizeof head)) return;
    constexpr unsigned kMostObjects = 65536;
    const link_map* next = head.r_map;
    for (unsigned n = 0; next != nullptr && n < kMostObjects; ++n) {
        link_map entry{};
        if (!read_memory(next, &entry, sizeof entry)) return;
        next = entry.l_next;
        if (use(entry)) return;
    }
}

}  // namespace

std::optional<LoadedObject> loaded_object(std::uint64_t pc) {
    std::optional<LoadedObject> result;
    each_loaded([&](const link_map& entry) {
        // Within 4 GiB of its load address: otherwise another one's, and not worth reading.
        if ((pc - entry.l_addr) >> 32 != 0) return false;
        LoadedObject loaded{code_object(read_text(entry.l_name)), entry.l_addr};
        if (!is_code_at(loaded.bytes, pc - loaded.bias)) return false;
        result = std::move(loaded);
        return true;
    });
    return result;
}

void locate(Site& site) {
    if (const auto object = loaded_object(site.pc)) locate(site, *object);
}

void locate(Site& site, const LoadedObject& object) {
    const std::uint64_t address = site.pc - object.bias;
    site.function = function_at(object.bytes, address);
    site.source = source_lines(object.bytes, address);
    site.by_gcc = is_by_gcc(object.bytes);
}

LoadedCode::Ranges LoadedCode::ranges() {
    std::map<std::uint64_t, Ranges> loaded;
    each_loaded([&](const link_map& entry) {
        if (const auto known = known_.find(entry.l_addr); known != known_.end())
            loaded.insert(*known);
        else
            loaded.emplace(entry.l_addr, code_of(code_object(read_text(entry.l_name))));
        return false;
    });
    known_ = std::move(loaded);
    Ranges all;
    for (const auto& [bias, code] : known_)
        for (const auto& [begin, end] : code) all[bias + begin] = bias + end;
    return all;
}

}  // namespace kfdemu::check
