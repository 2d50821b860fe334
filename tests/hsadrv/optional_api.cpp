// Optional entry points of the runtime: never linked, looked up, and if missing refused with the
// release that has them.
#include "hsadrv/optional_api.hpp"

#include <dlfcn.h>

#include <string>
#include <vector>

#include "tests/hsadrv/device.hpp"

using namespace hsadrv;
using test_support::Contains;

namespace {

struct Row {
    std::string name, since;
    bool offered;
};

template <class Function>
Row row(const OptionalEntry<Function>& entry) {
    return {entry.name(), entry.since(), bool(entry)};
}

std::vector<Row> rows() {
    const OptionalApi& api = optional_api();
    return {row(api.memory_async_copy_on_engine),
            row(api.memory_copy_engine_status),
            row(api.portable_export_dmabuf),
            row(api.portable_close_dmabuf),
            row(api.vmem_address_reserve),
            row(api.vmem_address_free),
            row(api.vmem_handle_create),
            row(api.vmem_handle_release),
            row(api.vmem_map),
            row(api.vmem_unmap),
            row(api.vmem_set_access),
            row(api.vmem_get_access),
            row(api.vmem_export_shareable_handle),
            row(api.vmem_import_shareable_handle),
            row(api.signal_wait_all),
            row(api.queue_get_info)};
}

int twice(int value) { return 2 * value; }

}  // namespace

TEST_CASE("an entry point is offered exactly when the runtime exports it", "[optional_api]") {
    void* runtime = ::dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
    REQUIRE(runtime != nullptr);
    for (const Row& entry : rows()) {
        CAPTURE(entry.name);
        CHECK(entry.offered == (::dlsym(runtime, entry.name.c_str()) != nullptr));
        CHECK(entry.since.size() == 3);
    }
    ::dlclose(runtime);
}

TEST_CASE("entry points of one release are present or missing together", "[optional_api]") {
    const auto all = rows();
    for (const Row& a : all)
        for (const Row& b : all) {
            CAPTURE(a.name, b.name);
            if (a.since <= b.since) CHECK((a.offered || !b.offered));
        }
}

TEST_CASE("a present entry point is called", "[optional_api]") {
    const OptionalEntry<int(int)> entry{"twice", "5.6", reinterpret_cast<void*>(twice)};
    REQUIRE(entry);
    CHECK(entry(21) == 42);
    CHECK(entry.required()(4) == 8);
}

TEST_CASE("a missing entry point is refused by name, with the runtime's version and the release that added it",
          "[optional_api]") {
    NEEDS_DEVICE();
    const Driver driver;
    const OptionalEntry<int(int)> entry{"hsa_amd_not_yet", "9.9", nullptr};
    CHECK_FALSE(entry);
    CHECK_THROWS_AS(entry.required(), NotOffered);
    CHECK_THROWS_WITH(entry.required(), Contains("hsa_amd_not_yet()") && Contains("came with ROCm 9.9") &&
                                            Contains(runtime_version_text()));
    CHECK_THAT(runtime_version_text(), Contains("1."));
    CHECK_THROWS_WITH(throw_not_offered("hsa_amd_neither", "8.8"),
                      Contains("hsa_amd_neither()") && Contains("came with ROCm 8.8"));
}

TEST_CASE("without a running runtime the refusal still has its message", "[optional_api]") {
    const OptionalEntry<int(int)> entry{"hsa_amd_not_yet", "9.9", nullptr};
    CHECK_THROWS_WITH(entry.required(), Contains("not initialised") && Contains("9.9"));
}
