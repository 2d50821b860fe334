// Code objects and bundles as bytes: each is read, or refused as InvalidCodeObject; no other exception leaves
// the parsers.
#include "hsadrv/code_object.hpp"

#include "hsadrv/code/offload_bundle.hpp"
#include "hsadrv/error.hpp"
#include "tests/fuzz/code_object_seeds.hpp"

namespace {

template <class Read>
void read_or_refuse(Read&& read) {
    try {
        read();
    } catch (const hsadrv::InvalidCodeObject& error) {
        if (std::string_view{error.what()}.empty()) fuzz::broken("refused without a reason");
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span file{reinterpret_cast<const std::byte*>(data), size};
    const hsadrv::TargetId agent[] = {hsadrv::TargetId::parse(FUZZ_TARGET)};
    read_or_refuse([&] {
        if (!hsadrv::is_offload_bundle(file)) return;
        for (const hsadrv::BundleEntry& entry : hsadrv::parse_offload_bundle(file))
            read_or_refuse([&] { hsadrv::read_code_object(entry.bytes); });
    });
    read_or_refuse([&] { hsadrv::read_code_object(hsadrv::extract_code_object(file, agent)); });
    return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() {
    std::vector<Bytes> all = code_objects(FUZZ_TARGET);
    for (Bytes& bundle : bundles()) all.push_back(std::move(bundle));
    return all;
}
