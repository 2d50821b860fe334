#include "tools/kfdemu/boundary/hsa_code.hpp"

#include <mutex>

#include "tools/kfdemu/boundary/hsa_tool.hpp"
#include "tools/kfdemu/check/report/code_objects.hpp"

namespace kfdemu {
namespace {

hsa::Status (*next_freeze)(hsa::Handle executable, const char* options) = nullptr;
hsa::Status (*next_destroy)(std::uint64_t executable) = nullptr;

void follow() {
    static std::mutex mutex;
    static auto* const code = new check::LoadedCode;  // outlives every exit handler
    const std::lock_guard lock{mutex};
    allocations().set_code(code->ranges());
}

hsa::Status freeze(hsa::Handle executable, const char* options) {
    const hsa::Status status = next_freeze(executable, options);
    if (status == hsa::kSuccess) follow();
    return status;
}

/// Meanwhile its memory may be another thread's allocation, which goes before code.
hsa::Status destroy(std::uint64_t executable) {
    const hsa::Status status = next_destroy(executable);
    if (status == hsa::kSuccess) follow();
    return status;
}

}  // namespace

void wrap_code(hsa::Table& table) {
    hsa::wrap(table.core, hsa::kExecutableFreeze, &freeze, next_freeze);
    hsa::wrap(table.core, hsa::kExecutableDestroy, &destroy, next_destroy);
}

}  // namespace kfdemu
