#include "hsadrv/compile/llvm_places.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

namespace hsadrv::detail {
namespace fs = std::filesystem;

namespace {

bool can_be_run(const fs::path& file) {
    std::error_code error;
    return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

/// An empty entry of $PATH means the current folder.
std::vector<fs::path> folders_of(std::string_view path) {
    std::vector<fs::path> folders;
    while (!path.empty()) {
        const auto colon = path.find(':');
        const std::string_view folder = path.substr(0, colon);
        folders.emplace_back(folder.empty() ? "." : folder);
        path.remove_prefix(colon == path.npos ? path.size() : colon + 1);
    }
    return folders;
}

/// 19 for "clang-19"; std::nullopt for names such as clang-tidy-19.
std::optional<unsigned> number_after(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix)) return {};
    name.remove_prefix(prefix.size());
    unsigned number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} || end != name.data() + name.size()) return {};
    return number;
}

struct Numbered {
    unsigned number;
    fs::path file;
};

std::vector<Numbered> numbered_programs(const std::string& name, const fs::path& folder) {
    std::vector<Numbered> found;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        const auto number = number_after(entry.path().filename().string(), name + "-");
        if (number && can_be_run(entry.path())) found.push_back({*number, entry.path()});
    }
    return found;
}

/// ROCm installs each version in its own folder. Newest first, roughly: the longest name first, then by text.
std::vector<fs::path> rocm_folders(const LlvmSurroundings& surroundings) {
    std::vector<fs::path> folders;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(surroundings.opt, error))
        if (entry.path().filename().string().starts_with("rocm-")) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end(), [](const fs::path& a, const fs::path& b) {
        const std::string left = a.string(), right = b.string();
        return left.size() != right.size() ? left.size() > right.size() : left > right;
    });
    folders.insert(folders.begin(), fs::path(surroundings.opt) / "rocm");
    if (!surroundings.rocm_path.empty()) folders.insert(folders.begin(), surroundings.rocm_path);
    return folders;
}

}  // namespace

std::string variable(const char* name) {
    const char* value = ::secure_getenv(name);
    return value ? value : "";
}

LlvmSurroundings surroundings_of_this_process() { return {variable("PATH"), variable("ROCM_PATH")}; }

std::string find_in_path(const std::string& name, const std::string& path) {
    if (name.find('/') != name.npos) return can_be_run(name) ? name : "";
    for (const fs::path& folder : folders_of(path))
        if (can_be_run(folder / name)) return (folder / name).string();
    return "";
}

std::vector<std::string> llvm_places(const std::string& name, const LlvmSurroundings& surroundings) {
    // Newest to oldest; equal versions in the order of their folders.
    std::vector<Numbered> numbered;
    const auto newer = [](const Numbered& a, const Numbered& b) { return a.number > b.number; };
    for (const fs::path& folder : folders_of(surroundings.path)) {
        for (Numbered& program : numbered_programs(name, folder))
            numbered.insert(std::upper_bound(numbered.begin(), numbered.end(), program, newer), std::move(program));
    }

    std::vector<fs::path> all;
    for (Numbered& program : numbered) all.push_back(std::move(program.file));
    for (const fs::path& folder : folders_of(surroundings.path)) all.push_back(folder / name);
    for (const fs::path& folder : rocm_folders(surroundings)) all.push_back(folder / "llvm/bin" / name);
    std::error_code error;
    if (name != "clang")
        for (const std::string& clang : llvm_places("clang", surroundings))
            all.push_back(fs::canonical(clang, error).parent_path() / name);

    std::vector<std::string> places;
    std::set<fs::path> seen;
    for (const fs::path& file : all)
        if (can_be_run(file) && seen.insert(fs::canonical(file, error)).second) places.push_back(file.string());
    return places;
}

std::string looked_at(const std::string& name, const LlvmSurroundings& surroundings) {
    const std::string& path = surroundings.path;
    const std::string& rocm = surroundings.rocm_path;
    const std::string program = "/llvm/bin/" + name;
    return name + "-NN and " + name + " in $PATH (" + (path.empty() ? "which is empty" : path) + "), " +
           (rocm.empty() ? "$ROCM_PATH" + program + " ($ROCM_PATH is not set)" : rocm + program) + ", " +
           surroundings.opt + "/rocm*" + program;
}

}  // namespace hsadrv::detail
