#include "hsadrv/c/objects.hpp"

#include "hsadrv/base/text.hpp"

namespace hsadrv::c {

void refuse_handle(const char* call, const char* name, const void* handle, HandleKind wanted) {
    const std::string text = std::string(call) + ": '" + name + "' ";
    if (handle == nullptr) throw InvalidHandle(text + "is null; it must be " + kind_text(wanted));
    const HandleKind kind = HandleTable::process().kind_of(handle);
    const std::string given = detail::hex(handle);
    if (kind == wanted) throw InvalidHandle(text + "is " + given + ": " + kind_text(kind) + " that was destroyed");
    if (kind == HandleKind::none)
        throw InvalidHandle(text + "is " + given + ", which is no handle; it must be " + kind_text(wanted));
    throw InvalidHandle(text + "is " + given + ": " + kind_text(kind) + ", not " + kind_text(wanted));
}

}  // namespace hsadrv::c
