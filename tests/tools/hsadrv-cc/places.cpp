// The places and the order in which hsadrv-cc searches for a clang.
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "hsadrv/compile/llvm_places.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv::detail;
namespace fs = std::filesystem;
using test_support::Contains;

namespace {

/// A folder of programs that do nothing.
class Folder {
  public:
    Folder() {
        char name[] = "/tmp/hsadrv-cc-places-XXXXXX";
        root_ = mkdtemp(name);
    }
    ~Folder() { fs::remove_all(root_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    void add(const std::string& name, fs::perms mode = fs::perms::owner_all) {
        fs::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name) << "#!/bin/sh\n";
        fs::permissions(root_ / name, mode);
    }
    void link(const std::string& to, const std::string& name) { fs::create_symlink(root_ / to, root_ / name); }
    std::string at(const std::string& name) const { return (root_ / name).string(); }

    /// The clangs found, without this folder as a prefix.
    std::vector<std::string> found(const LlvmSurroundings& surroundings) const {
        std::vector<std::string> names;
        for (const std::string& place : llvm_places("clang", surroundings))
            names.push_back(place.substr(root_.string().size() + 1));
        return names;
    }

  private:
    fs::path root_;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("numbered clangs are first, from newest to oldest in any folder, then clang, then ROCm's", "[hsadrv-cc]") {
    Folder folder;
    for (const char* name : {"a/clang-9", "a/clang-19", "b/clang-100", "b/clang-20", "b/clang",
                             "opt/rocm/llvm/bin/clang", "opt/rocm-6.4.3/llvm/bin/clang",
                             "opt/rocm-5.7.0/llvm/bin/clang", "opt/rocm-10.0.0/llvm/bin/clang", "mine/llvm/bin/clang"})
        folder.add(name);
    const LlvmSurroundings all{folder.at("a") + ":" + folder.at("b"), folder.at("mine"), folder.at("opt")};
    REQUIRE(folder.found(all) == Names{"b/clang-100", "b/clang-20", "a/clang-19", "a/clang-9", "b/clang",
                                       "mine/llvm/bin/clang", "opt/rocm/llvm/bin/clang",
                                       "opt/rocm-10.0.0/llvm/bin/clang", "opt/rocm-6.4.3/llvm/bin/clang",
                                       "opt/rocm-5.7.0/llvm/bin/clang"});
}

TEST_CASE("only programs named clang are considered", "[hsadrv-cc]") {
    Folder folder;
    for (const char* name :
         {"a/clang-tidy-19", "a/clang++-19", "a/clang-", "a/clang-19x", "a/clang-cl", "a/clang-99999999999999"})
        folder.add(name);
    folder.add("a/clang-21", fs::perms::owner_read);
    fs::create_directories(folder.at("a/clang-22"));
    folder.add("a/clang-18");
    REQUIRE(folder.found({folder.at("a"), "", folder.at("opt")}) == Names{"a/clang-18"});
}

TEST_CASE("a program with several names is tried once", "[hsadrv-cc]") {
    Folder folder;
    folder.add("llvm/clang");
    fs::create_directories(folder.at("bin"));
    folder.link("llvm/clang", "bin/clang-19");
    folder.link("llvm/clang", "bin/clang");
    folder.link("nowhere", "bin/clang-20");
    REQUIRE(folder.found({folder.at("bin") + ":" + folder.at("llvm"), "", folder.at("opt")}) == Names{"bin/clang-19"});
}

TEST_CASE("without a clang the message names the places searched", "[hsadrv-cc]") {
    Folder folder;
    REQUIRE(folder.found({"", "", folder.at("opt")}).empty());
    REQUIRE(folder.found({folder.at("missing"), folder.at("missing"), folder.at("opt")}).empty());
    REQUIRE_THAT(looked_at("clang", {"", "", "/opt"}),
                 Contains("$PATH (which is empty)") && Contains("$ROCM_PATH is not set"));
    REQUIRE_THAT(looked_at("clang", {"/bin", "/my/rocm", "/opt"}),
                 Contains("$PATH (/bin), /my/rocm/llvm/bin/clang, /opt/rocm*"));
}

TEST_CASE("a name is looked up as in a shell", "[hsadrv-cc]") {
    Folder folder;
    folder.add("a/clang-19", fs::perms::owner_read);
    folder.add("b/clang-19");
    const std::string path = folder.at("a") + ":" + folder.at("b");
    REQUIRE(find_in_path("clang-19", path) == folder.at("b/clang-19"));
    REQUIRE(find_in_path("clang-20", path) == "");
    REQUIRE(find_in_path(folder.at("b/clang-19"), "") == folder.at("b/clang-19"));
    REQUIRE(find_in_path(folder.at("a/clang-19"), path) == "");
}
