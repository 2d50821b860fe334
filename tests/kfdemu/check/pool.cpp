// `memory` on blocks of hsadrv's pool: KFDEMU=check=memory.
#include "tools/kfdemu/kfdemu.h"

#include "hsadrv/hsadrv.hpp"
#include "tests/support/control.hpp"

using namespace hsadrv;

namespace {

class Pool {
  public:
    Pool() { control->forget_findings(); }

    /// Reads the word `index` of `from`.
    void read(const void* from, int index) {
        kernel_.launch(stream, {.grid = 1, .workgroup = 1}, from, out_.data(), index);
    }
    std::string found() {
        stream.synchronize();
        std::string text;
        for (const std::string& one : control.findings()) text += one;
        control->forget_findings();
        return text;
    }

    test_support::Control control;
    Driver driver;
    AgentRef gpu = driver.gpus().front();
    Stream stream{gpu};
    Allocator allocator{device_pool(gpu)};

  private:
    Allocation out_ = Allocation::from_pool(device_pool(gpu), 4096);
    Kernel kernel_ = Executable::load(gpu, KFDEMU_TEST_KERNELS "/read.O0." + gpu.name() + ".hsaco").kernel("read_word");
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("an overrun from one block into the next is reported", "[check][pool]") {
    Pool pool;
    const Block first = pool.allocator.allocate(100, pool.stream), second = pool.allocator.allocate(100, pool.stream);
    pool.read(first.data(), 24);
    pool.read(second.data(), 0);
    CHECK(pool.found() == "");
    const auto apart = static_cast<const std::byte*>(second.data()) - static_cast<const std::byte*>(first.data());
    pool.read(first.data(), 25);
    const std::string text = pool.found();
    INFO(text);
    CHECK(has(text, "4 bytes are read outside of an allocation"));
    CHECK(has(text, "just past the end of 100 bytes allocated at"));
    CHECK(has(text, " of a pool)"));
    CHECK(has(text, "allocated at "));
    pool.read(first.data(), static_cast<int>(apart / 4) - 1);
    CHECK(has(pool.found(), "4 bytes before 100 bytes allocated at"));
}

TEST_CASE("a use after free of a block is reported", "[check][pool]") {
    Pool pool;
    Block block = pool.allocator.allocate(100, pool.stream);
    const void* data = block.data();
    pool.stream.synchronize();
    block.reset();
    pool.read(data, 9);
    const std::string text = pool.found();
    INFO(text);
    CHECK(has(text, "4 bytes of freed memory are read"));
    CHECK(has(text, "at offset 36 of 100 bytes allocated at"));
    CHECK(has(text, " of a pool, freed)"));
    CHECK(has(text, "    freed at "));
    block = pool.allocator.allocate(80, pool.stream);
    REQUIRE(block.data() == data);
    pool.read(data, 19);
    CHECK(pool.found() == "");
    pool.read(data, 20);
    CHECK(has(pool.found(), "just past the end of 80 bytes allocated at"));
}

TEST_CASE("work in flight may use a block that is freed and allocated again", "[check][pool]") {
    Pool pool;
    for (int round = 0; round < 50; ++round) {
        const Block block = pool.allocator.allocate(round % 2 == 0 ? 100 : 60, pool.stream);
        pool.read(block.data(), round % 2 == 0 ? 24 : 14);
    }
    CHECK(pool.found() == "");
}

TEST_CASE("a pool's memory that is given back is freed", "[check][pool]") {
    Pool pool;
    Block block = pool.allocator.allocate(100, pool.stream);
    const void* data = block.data();
    pool.stream.synchronize();
    block.reset();
    REQUIRE(pool.allocator.release_cached() > 0);
    pool.read(data, 9);
    CHECK(has(pool.found(), "at offset 36 of 2097152 bytes allocated at"));
}
