#include "hsadrv/compile/compile_key.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>

#include "hsadrv/compile/llvm_places.hpp"

namespace hsadrv::detail {
namespace fs = std::filesystem;

namespace {

/// Read by the search for a clang, and by clang.
constexpr const char* variables[] = {
    "HSADRV_CLANG",         "PATH",          "ROCM_PATH",        "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
    "CCC_OVERRIDE_OPTIONS", "COMPILER_PATH", "SOURCE_DATE_EPOCH"};

/// Each with its length, so that no two keys are one text.
void add(std::string& key, std::string_view name, std::string_view value) {
    key.append(name).append(" ").append(std::to_string(value.size())).append(" ").append(value).append("\n");
}

void add(std::string& key, std::string_view name, const std::vector<std::string>& values) {
    for (const std::string& value : values) add(key, name, value);
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](auto word) { return text.find(word) != text.npos; });
}

/// A directive, other than #include <…>, that looks for files in the current folder.
bool includes_from_here(std::string_view source) {
    for (auto at = source.find('#'); at != source.npos; at = source.find('#', at + 1)) {
        std::string_view line = source.substr(at, source.find('\n', at) - at);
        line.remove_prefix(std::min(line.size(), line.find_first_not_of("# \t")));
        if (has_any(line, {"has_include", "has_embed"})) return true;
        if (!line.starts_with("include") && !line.starts_with("import") && !line.starts_with("embed")) continue;
        if (line.find('<') == line.npos) return true;
    }
    return false;
}

bool is_relative(const std::string& folder) { return !folder.starts_with('/'); }

bool depends_on_folder(std::string_view source, const CompileOptions& options) {
    return options.line_numbers || !options.clang_options.empty() ||
           std::any_of(options.folders.begin(), options.folders.end(), is_relative) || includes_from_here(source);
}

}  // namespace

std::string key_of(std::string_view source, const CompileOptions& options, const TargetId& target,
                   const std::string& headers) {
    std::string key = "hsadrv " HSADRV_VERSION_TEXT ", with types of arguments\n";
    add(key, "language", to_string(options.language));
    add(key, "target", target.name());
    add(key, "name", options.name);
    add(key, "level", options.level);
    add(key, "lines", options.line_numbers ? "1" : "0");
    add(key, "version", std::to_string(options.code_object_version));
    add(key, "define", options.defines);
    add(key, "folder", options.folders);
    add(key, "option", options.clang_options);
    add(key, "clang", options.clang);
    add(key, "headers", headers);
    for (const char* name : variables) add(key, name, variable(name));
    std::error_code error;
    if (depends_on_folder(source, options)) add(key, "here", fs::current_path(error).string());
    add(key, "source", source);
    return key;
}

bool is_reproducible(std::string_view source, Language language) {
    if (has_any(source, {"__TIME__", "__DATE__", "__TIMESTAMP__", ".incbin"})) return false;
    return language != Language::assembly || !has_any(source, {".include"});
}

std::vector<std::string> files_in(const std::vector<std::string>& clang_options) {
    std::vector<std::string> files;
    for (const std::string& word : clang_options) {
        std::string_view rest = word;
        while (true) {
            std::error_code error;
            if (const std::string part(rest.substr(0, rest.find(','))); fs::is_regular_file(part, error))
                files.push_back(part);
            const auto next = rest.find_first_of("=,");
            if (next == rest.npos) break;
            rest.remove_prefix(next + 1);
        }
    }
    return files;
}

}  // namespace hsadrv::detail
