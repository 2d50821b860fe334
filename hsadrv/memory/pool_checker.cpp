#include "hsadrv/memory/pool_checker.hpp"

#include <dlfcn.h>

namespace hsadrv::detail {
namespace {

PoolChecker look_up() noexcept {
    const auto wanted = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "kfdemu_pool_is_checked"));
    if (wanted == nullptr || wanted() == 0) return {};
    PoolChecker found;
    found.allocated = reinterpret_cast<decltype(found.allocated)>(::dlsym(RTLD_DEFAULT, "kfdemu_pool_allocated"));
    found.freed = reinterpret_cast<decltype(found.freed)>(::dlsym(RTLD_DEFAULT, "kfdemu_pool_freed"));
    return found;
}

}  // namespace

const PoolChecker* PoolChecker::find() noexcept {
    static const PoolChecker found = look_up();
    return found.allocated != nullptr && found.freed != nullptr ? &found : nullptr;
}

}  // namespace hsadrv::detail
