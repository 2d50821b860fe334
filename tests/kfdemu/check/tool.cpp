// The tool that ROCR loads, on API tables of several versions of ROCR, whose functions do nothing: what is wrapped, and
// what it makes of the calls. KFDEMU=check=memory+leak.
#include "tools/kfdemu/kfdemu.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/control.hpp"
#include "tools/kfdemu/boundary/hsa_table.hpp"

using namespace kfdemu::hsa;

namespace {

using Pointer = void*;
using Word = std::uint64_t;

Status status_of_all = kSuccess;

/// A function of any signature of words: writes a handle to where one of its arguments points.
template <int kOut>
Status writes(Word a, Word b, Word c, Word d, Word e, Word f) {
    Word* const out[] = {reinterpret_cast<Word*>(a), reinterpret_cast<Word*>(b), reinterpret_cast<Word*>(c),
                         reinterpret_cast<Word*>(d), reinterpret_cast<Word*>(e), reinterpret_cast<Word*>(f)};
    if (status_of_all == kSuccess) *out[kOut] = 0x5000000000;
    return status_of_all;
}
Status nothing(Word) { return status_of_all; }

/// HsaApiTable with a table of the core and one of AMD's extension.
class Tables {
  public:
    explicit Tables(std::uint32_t amd_bytes) : amd_(amd_bytes) {
        set_size(core_, 1000);
        set_size(amd_, amd_bytes);
        table_.core = core_.data();
        table_.amd = amd_.data();
    }
    template <class Function>
    void put(Later function, Function pointer) {
        std::memcpy(&amd_.at(offset_in(amd_.size(), function)), &pointer, sizeof pointer);
    }
    Word at(Later function) const {
        Word entry = 0;
        std::memcpy(&entry, &amd_.at(offset_in(amd_.size(), function)), sizeof entry);
        return entry;
    }
    template <class... Arguments>
    Status call(Later function, Arguments... arguments) const {
        return reinterpret_cast<Status (*)(Arguments...)>(at(function))(arguments...);
    }
    void load() { reinterpret_cast<void (*)(void*)>(symbol("kfdemu_tool_load"))(&table_); }
    /// hsa_shut_down; what was found then.
    std::string unload() {
        test_support::Control control;
        control->forget_findings();
        reinterpret_cast<void (*)()>(symbol("kfdemu_tool_unload"))();
        std::string all;
        for (const std::string& text : control.findings()) all += text.substr(0, text.find('\n') + 1);
        return all;
    }
    const std::vector<std::byte>& amd() const { return amd_; }

  private:
    static void set_size(std::vector<std::byte>& table, std::uint32_t bytes) {
        table.resize(bytes);
        const TableVersion version{1, bytes, 0, 0};
        std::memcpy(table.data(), &version, sizeof version);
    }
    static Pointer symbol(const char* name) {
        const Pointer found = dlsym(RTLD_DEFAULT, name);
        REQUIRE(found != nullptr);
        return found;
    }

    std::vector<std::byte> core_ = std::vector<std::byte>(1000), amd_;
    Table table_{};
};

constexpr std::uint32_t kRocr5 = 400, kRocr6 = 560, kBetween = 416;

/// Of ROCR 6, every function that is wrapped and tested here.
struct Rocr6 : Tables {
    Rocr6() : Tables{kRocr6} {
        status_of_all = kSuccess;
        put(Later::vmem_address_reserve, &writes<0>);
        put(Later::vmem_handle_create, &writes<4>);
        put(Later::ipc_memory_attach, &writes<4>);
        for (const Later function : {Later::vmem_address_free, Later::vmem_handle_release, Later::vmem_map,
                                     Later::vmem_unmap, Later::ipc_memory_detach})
            put(function, &nothing);
        load();
    }
};

}  // namespace

TEST_CASE("virtual memory that is not given back is a leak", "[check][tool]") {
    Rocr6 rocr;
    Word va = 0, handle = 0;
    CHECK(rocr.call(Later::vmem_address_reserve, &va, Word{1} << 30, Word{0}, Word{0}) == kSuccess);
    CHECK(va == 0x5000000000);
    CHECK(rocr.call(Later::vmem_handle_create, Word{1}, Word{2} << 20, 0u, Word{0}, &handle) == kSuccess);
    CHECK(rocr.call(Later::vmem_map, va, Word{2} << 20, Word{0}, handle, Word{0}) == kSuccess);
    const std::string all = rocr.unload();
    INFO(all);
    CHECK_THAT(all, test_support::Contains("1 reservation of addresses of 1073741824 bytes is never freed\n"));
    CHECK_THAT(all, test_support::Contains("1 memory handle of 2097152 bytes is never released\n"));
    CHECK_THAT(all, test_support::Contains("1 mapping of virtual memory of 2097152 bytes is never undone\n"));
}

TEST_CASE("virtual memory that is given back is none", "[check][tool]") {
    Rocr6 rocr;
    Word va = 0, handle = 0;
    rocr.call(Later::vmem_address_reserve, &va, Word{1} << 30, Word{0}, Word{0});
    rocr.call(Later::vmem_handle_create, Word{1}, Word{2} << 20, 0u, Word{0}, &handle);
    rocr.call(Later::vmem_map, va, Word{2} << 20, Word{0}, handle, Word{0});
    rocr.call(Later::vmem_unmap, va, Word{2} << 20);
    rocr.call(Later::vmem_handle_release, handle);
    rocr.call(Later::vmem_address_free, va, Word{1} << 30);
    CHECK(rocr.unload() == "");
}

TEST_CASE("another process's memory that is not detached is a leak", "[check][tool]") {
    Rocr6 rocr;
    Word va = 0;
    rocr.call(Later::ipc_memory_attach, Word{0}, Word{4096}, 0u, Word{0}, &va);
    rocr.call(Later::ipc_memory_detach, va);
    rocr.call(Later::ipc_memory_attach, Word{0}, Word{8192}, 0u, Word{0}, &va);
    CHECK(rocr.unload() == "check leak: 1 attachment of 8192 bytes is never undone\n");
}

TEST_CASE("a call that fails makes and destroys nothing", "[check][tool]") {
    Rocr6 rocr;
    Word va = 0;
    rocr.call(Later::ipc_memory_attach, Word{0}, Word{8192}, 0u, Word{0}, &va);
    status_of_all = kOutOfResources;
    CHECK(rocr.call(Later::ipc_memory_detach, va) == kOutOfResources);
    CHECK(rocr.call(Later::vmem_handle_create, Word{1}, Word{2} << 20, 0u, Word{0}, &va) == kOutOfResources);
    CHECK(rocr.unload() == "check leak: 1 attachment of 8192 bytes is never undone\n");
}

TEST_CASE("a table of which it is not known where its functions are is left alone", "[check][tool]") {
    for (const std::uint32_t bytes : {kBetween, std::uint32_t{440}, std::uint32_t{16}}) {
        Tables tables{bytes};
        const std::vector<std::byte> before = tables.amd();
        tables.load();
        const std::size_t later = std::min<std::size_t>(bytes, 144);
        CHECK(std::equal(before.begin() + static_cast<std::ptrdiff_t>(later), before.end(),
                         tables.amd().begin() + static_cast<std::ptrdiff_t>(later)));
        tables.unload();
    }
}

TEST_CASE("ROCR 5.2 has no virtual memory, and nothing is written after the end of its table", "[check][tool]") {
    Tables tables{kRocr5};
    tables.put(Later::ipc_memory_attach, &writes<4>);
    tables.load();
    CHECK(tables.at(Later::ipc_memory_attach) != 0);
    CHECK(offset_in(kRocr5, Later::vmem_map) + 8 > kRocr5);
    tables.unload();
}
