// Fixtures of the tests of hsadrv::compile: kernels, a cache and a folder for temporary files of a test's own.
//
//     const OwnCache cache;                                        // until the end of the test
//     const Compiled made = compile(double_it, options_for("gfx90a"));
//
// Thread safety: one thread makes OwnCache.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "hsadrv/compile.hpp"
#include "hsadrv/compile/cache_memory.hpp"

namespace compile_test {

namespace fs = std::filesystem;

inline const std::string double_it = R"(#include <shared/device/device.hpp>
HSADRV_KERNEL void double_it(float* data, uint32_t count) {
    const uint32_t i = hsadrv::get_global_id(0);
    if (i < count) data[i] *= 2;
}
)";

inline hsadrv::CompileOptions options_for(const std::string& target = "gfx90a") {
    hsadrv::CompileOptions options;
    options.target = hsadrv::TargetId::parse(target);
    options.clang = KERNEL_CLANG;
    return options;
}

/// Sets a variable until the end of the scope.
class Variable {
  public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* had = std::getenv(name)) had_ = had;
        ::setenv(name, value.c_str(), 1);
    }
    ~Variable() { had_ ? ::setenv(name_, had_->c_str(), 1) : ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
    std::optional<std::string> had_;
};

class Folder {
  public:
    Folder() {
        char name[] = "/tmp/hsadrv-compile-XXXXXX";
        if (!mkdtemp(name)) throw std::runtime_error("mkdtemp");
        path_ = name;
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const fs::path& path() const { return path_; }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name) << text;
        return (path_ / name).string();
    }
    std::string script(const std::string& name, const std::string& text) const {
        const std::string file = write(name, "#!/bin/sh\n" + text);
        fs::permissions(file, fs::perms::owner_all);
        return file;
    }
    std::vector<fs::path> files() const {
        std::vector<fs::path> all;
        for (const fs::directory_entry& entry : fs::directory_iterator(path_)) all.push_back(entry.path());
        return all;
    }

  private:
    fs::path path_;
};

/// An empty cache, and an empty folder for temporary files.
struct OwnCache {
    Folder entries, temporary;
    Variable place{"HSADRV_CACHE", entries.path().string()}, scratch{"TMPDIR", temporary.path().string()};
    OwnCache() { forget(); }
    ~OwnCache() { forget(); }
    /// As another process begins: what is on disk stays.
    void forget() const { hsadrv::detail::compile_memory().clear(); }
};

}  // namespace compile_test
