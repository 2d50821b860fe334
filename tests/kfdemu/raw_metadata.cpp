// What programs attach to a buffer of a render node: GEM_METADATA and GEM_OP, as libdrm's amdgpu_bo_set_metadata and
// amdgpu_bo_query_info use them. ROCR 7 attaches a number to memory that it shares, and refuses an IPC handle with
// another one.
#include <cerrno>
#include <cstring>

#include "tests/kfdemu/raw_kfd.hpp"
#include "tests/support/descriptor.hpp"

using namespace raw_kfd;

namespace {

using test_support::Descriptor;

constexpr unsigned kGemClose = 0x09, kPrimeExport = 0x2d, kPrimeImport = 0x2e, kGemCreate = 0x40, kGemMetadata = 0x46,
                   kGemOp = 0x50;
constexpr std::uint32_t kSet = 1, kGet = 2;

struct Metadata {
    std::uint32_t handle, operation;
    std::uint64_t flags, tiling;
    std::uint32_t bytes, data[64], padding;
};

struct Prime {
    std::uint32_t handle, flags;
    std::int32_t fd;
};

std::uint32_t create(int render, std::uint64_t domain = 4, std::uint64_t flags = 0, std::uint64_t bytes = 1 << 20) {
    std::uint64_t args[4]{bytes, 4096, domain, flags};
    REQUIRE(drm(render, kGemCreate, args) == 0);
    return static_cast<std::uint32_t>(args[0]);
}

void set(int render, std::uint32_t handle, std::uint32_t value) {
    Metadata args{handle, kSet, 3, 0x1234, 4, {value}, 0};
    REQUIRE(drm(render, kGemMetadata, args) == 0);
}

Metadata get(int render, std::uint32_t handle) {
    Metadata args{handle, kGet, 9, 9, 9, {9}, 0};
    REQUIRE(drm(render, kGemMetadata, args) == 0);
    return args;
}

int export_dmabuf(int render, std::uint32_t handle) {
    Prime args{handle, O_CLOEXEC, -1};
    REQUIRE(drm(render, kPrimeExport, args) == 0);
    return args.fd;
}

std::uint32_t import(int render, int dmabuf) {
    Prime args{0, 0, dmabuf};
    REQUIRE(drm(render, kPrimeImport, args) == 0);
    return args.handle;
}

void close_handle(int render, std::uint32_t handle) {
    std::uint64_t args = handle;
    REQUIRE(drm(render, kGemClose, args) == 0);
}

}  // namespace

TEST_CASE("a buffer has the metadata that was set last, and a new one none", "[raw][metadata]") {
    const Descriptor kfd{open_kfd()}, render{open_render()};
    const std::uint32_t handle = create(render), other = create(render);
    CHECK(get(render, handle).bytes == 0);
    set(render, handle, 17);
    set(render, handle, 18);
    const Metadata found = get(render, handle);
    CHECK(found.bytes == 4);
    CHECK(found.data[0] == 18);
    CHECK(found.flags == 3);
    CHECK(found.tiling == 0x1234);
    CHECK(get(render, other).bytes == 0);
    CHECK(get(render, other).tiling == 0);
}

TEST_CASE("metadata goes with the dma-buf, also after its exporter has closed the buffer", "[raw][metadata]") {
    const Descriptor kfd{open_kfd()}, render{open_render()};
    const std::uint32_t handle = create(render);
    set(render, handle, 21);
    const Descriptor dmabuf{export_dmabuf(render, handle)};
    close_handle(render, handle);
    const std::uint32_t imported = import(render, dmabuf);
    CHECK(get(render, imported).data[0] == 21);
    set(render, imported, 22);
    CHECK(get(render, imported).data[0] == 22);

    std::uint32_t room[2]{};
    abi::GetDmabufInfo info{};  // KFD's view of it
    info.dmabuf_fd = static_cast<std::uint32_t>(static_cast<int>(dmabuf));
    REQUIRE(call(kfd, abi::kGetDmabufInfo, info) == 0);
    CHECK(info.metadata_size == 4);
    info.metadata_ptr = reinterpret_cast<std::uint64_t>(room);
    REQUIRE(call(kfd, abi::kGetDmabufInfo, info) == 0);
    CHECK(room[0] == 22);
    info.metadata_size = 3;
    CHECK(call(kfd, abi::kGetDmabufInfo, info) == -1);
    CHECK(errno == EINVAL);
}

TEST_CASE("memory that is used again has no metadata of the buffer before", "[raw][metadata]") {
    const Descriptor kfd{open_kfd()}, render{open_render()};
    for (int n = 0; n < 3; ++n) {
        const std::uint32_t handle = create(render);
        close(export_dmabuf(render, handle));
        CHECK(get(render, handle).bytes == 0);
        set(render, handle, 5);
        close_handle(render, handle);
    }
}

TEST_CASE("metadata that does not exist or is too long is refused", "[raw][metadata]") {
    const Descriptor kfd{open_kfd()}, render{open_render()};
    const std::uint32_t handle = create(render);
    const auto error = [&](Metadata args) { return drm(render, kGemMetadata, args) == 0 ? 0 : errno; };
    CHECK(error({handle, kSet, 0, 0, 256, {}, 0}) == 0);
    CHECK(error({handle, kSet, 0, 0, 257, {}, 0}) == EINVAL);
    CHECK(error({handle, 7, 0, 0, 4, {}, 0}) == EINVAL);
    CHECK(error({handle + 1000, kGet, 0, 0, 0, {}, 0}) == ENOENT);
}

TEST_CASE("a render node tells how a buffer was created", "[raw][metadata]") {
    const Descriptor kfd{open_kfd()}, render{open_render()};
    std::uint64_t created[4]{};  // size, alignment, domains, flags
    struct {
        std::uint32_t handle, operation;
        std::uint64_t value;
    } args{create(render, 4, 2, 8192), 0, reinterpret_cast<std::uint64_t>(created)};
    REQUIRE(drm(render, kGemOp, args) == 0);
    CHECK(created[0] == 8192);
    CHECK(created[2] == 4);
    CHECK(created[3] == 2);  // NO_CPU_ACCESS
    args.handle = create(render, 2);
    REQUIRE(drm(render, kGemOp, args) == 0);
    CHECK(created[2] == 2);
    CHECK(created[3] == 1);  // CPU_ACCESS_REQUIRED
    args.handle += 1000;
    CHECK(drm(render, kGemOp, args) == -1);
    CHECK(errno == ENOENT);
}
