#include "hsadrv/link.hpp"

namespace hsadrv {

const char* link_type_name(LinkType type) noexcept {
    switch (type) {
        case LinkType::hypertransport:
            return "HyperTransport";
        case LinkType::qpi:
            return "QPI";
        case LinkType::pcie:
            return "PCIe";
        case LinkType::infiniband:
            return "InfiniBand";
        case LinkType::xgmi:
            return "xGMI";
        case LinkType::other:
            break;
    }
    return "other";
}

}  // namespace hsadrv
