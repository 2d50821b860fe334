// Random layouts, to the device, across it and back: as if copied index by index, and no byte written outside the
// elements.
#include <cstring>

#include "tests/devicearray/array_fixture.hpp"
#include "tests/devicearray/naive_array.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/test_file.hpp"

using namespace hsadrv;
using naive::Random;
using naive::Shape;
using test_support::Device;

namespace {

using Bytes = std::vector<std::byte>;

/// Host memory for a layout, pageable or pinned, with a fill pattern.
class HostSide {
  public:
    HostSide(const Layout& layout, bool pinned, Random& random) : layout_(layout) {
        const auto size = static_cast<std::size_t>(layout.extent().size_bytes());
        if (pinned) {
            auto memory = std::make_shared<Allocation>(Allocation::from_pool(host_pool(), size + 1));
            memory_ = {memory, memory->as<std::byte>()};
        } else {
            auto memory = std::make_shared<Bytes>(size + 1);
            memory_ = {memory, memory->data()};
        }
        for (std::size_t i = 0; i < size; ++i) memory_.get()[i] = static_cast<std::byte>(random.between(0, 255));
    }
    std::byte* first() const { return memory_.get() - layout_.extent().begin; }
    // Not inlined: g++ 12 wrongly warns of a freed address.
    [[gnu::noinline]] Bytes bytes() const { return {memory_.get(), memory_.get() + layout_.extent().size_bytes()}; }

  private:
    Layout layout_;
    std::shared_ptr<std::byte> memory_;
};

/// The expected contents of `to` after `from` is copied into it, index by index.
void copy_naively(Bytes& to, const Layout& to_layout, const Bytes& from, const Layout& from_layout) {
    const naive::Array to_all = naive::array(to_layout, -to_layout.extent().begin),
                       from_all = naive::array(from_layout, -from_layout.extent().begin);
    for (std::size_t i = 0; i < to_all.offsets.size(); ++i)
        std::memcpy(&to[static_cast<std::size_t>(to_all.offsets[i])],
                    &from[static_cast<std::size_t>(from_all.offsets[i])],
                    static_cast<std::size_t>(to_layout.itemsize()));
}

DType some_dtype(Random& random) {
    static const DType others[] = {
        DType::raw(3), DType::record({{"x", dtypes::float32}, {"v", DType::subarray(dtypes::int16, {2, 2})}})};
    const auto n = static_cast<std::size_t>(random.between(0, std::size(dtypes::all) + 1));
    return n < std::size(dtypes::all) ? dtypes::all[n] : others[n - std::size(dtypes::all)];
}

/// A device array of that layout, its gaps and elements filled with `byte`.
DeviceNDArray painted(const DType& dtype, const Layout& layout, int byte, Stream& stream) {
    DeviceNDArray array = device_array(layout.shape(), dtype, layout.strides_bytes(), stream);
    const ByteRange range = layout.extent();
    if (range.size_bytes() > 0)
        stream.fill_async(static_cast<std::uint8_t*>(array.data()) + range.begin, static_cast<std::uint8_t>(byte),
                          static_cast<std::size_t>(range.size_bytes()));
    return array;
}

Bytes raw_bytes(const DeviceNDArray& array, Stream& stream) {
    const ByteRange range = array.layout().extent();
    Bytes bytes(static_cast<std::size_t>(range.size_bytes()));
    if (!bytes.empty())
        stream.copy_async(bytes.data(), static_cast<std::byte*>(array.data()) + range.begin, bytes.size());
    stream.synchronize();
    return bytes;
}

}  // namespace

TEST_CASE("10,000 random layouts: to the device, across it and back, bit for bit", "[device][property]") {
    NEEDS_DEVICE();
    Device device;
    Random random(77 + test_support::test_seed());
    for (int n = 0; n < test_support::some_of(10000); ++n) {
        const Shape shape = random.shape(300);
        const DType dtype = some_dtype(random);
        const auto itemsize = static_cast<std::int64_t>(dtype.itemsize());
        const Layout source = random.layout(shape, itemsize), one = random.layout(shape, itemsize, false),
                     two = random.layout(shape, itemsize, false), back = random.layout(shape, itemsize, false);
        HostSide from(source, random.one_in(3), random), to(back, random.one_in(3), random);
        const Bytes before = from.bytes();
        Bytes expected = to.bytes();
        copy_naively(expected, back, before, source);

        DeviceNDArray first = painted(dtype, one, 0xa5, device.stream),
                      second = painted(dtype, two, 0x5a, device.stream);
        first.copy_to_device(HostView{from.first(), dtype, source}, device.stream);
        second.copy_to_device(first, device.stream);
        second.copy_to_host({to.first(), dtype, back}, device.stream);
        device.stream.synchronize();
        INFO("shape " << naive::dims(shape).to_string() << " of " << dtype.name() << "\nfrom " << source.to_string()
                      << "\nby " << one.to_string() << "\nand " << two.to_string() << "\nto " << back.to_string());
        if (to.bytes() != expected) FAIL("the elements differ");
        if (from.bytes() != before) FAIL("the source was written");
        if (n % 8 != 0) continue;
        Bytes there(static_cast<std::size_t>(one.extent().size_bytes()), std::byte{0xa5});
        copy_naively(there, one, before, source);
        if (raw_bytes(first, device.stream) != there) FAIL("the gaps on the device were written");
    }
}
