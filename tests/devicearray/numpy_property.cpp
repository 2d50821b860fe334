// Random views of views and assignments, each compared with NumPy: numpy_cases.py runs on the same machine as this
// test. Variables: NUMPY_CASES_COMMAND, NUMPY_CASES (their number), HSADRV_TEST_SEED, and NUMPY_CASE for a single case.
#include <sys/wait.h>

#include <cctype>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tests/devicearray/array_fixture.hpp"
#include "tests/devicearray/numpy_case.hpp"
#include "tests/support/test_file.hpp"

using namespace hsadrv;
using numpy::at;
using numpy::Bytes;
using test_support::Device;

namespace {

std::string variable(const char* name, const char* otherwise) {
    const char* text = std::getenv(name);
    return text && *text ? text : otherwise;
}

constexpr int most_reported = 10;

/// The generator's output, by lines.
class Cases {
  public:
    Cases() {
        const std::string one = variable("NUMPY_CASE", ""), count = variable("NUMPY_CASES", "3000");
        const std::string command = variable("NUMPY_CASES_COMMAND", "") + " --seed " +
                                    std::to_string(test_support::test_seed()) +
                                    (one.empty() ? " --cases " + count : " --case " + one);
        pipe_ = ::popen(command.c_str(), "r");
        REQUIRE(pipe_);
    }
    ~Cases() {
        if (pipe_) ::pclose(pipe_);
        std::free(line_);
    }
    Cases(const Cases&) = delete;
    Cases& operator=(const Cases&) = delete;

    bool next(std::string& text) {
        const ssize_t length = ::getline(&line_, &room_, pipe_);
        if (length > 0) text.assign(line_, static_cast<std::size_t>(length));
        return length > 0;
    }
    /// True if the generator completed.
    bool complete() {
        const int status = ::pclose(pipe_);
        pipe_ = nullptr;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }

  private:
    FILE* pipe_ = nullptr;
    char* line_ = nullptr;
    std::size_t room_ = 0;
};

/// A base array of a case, in host memory of either kind.
HostNDArray base_array(const PythonLiteral& base, bool pinned) {
    const DType dtype = dtype_from_numpy(at(base, "dtype").string());
    const Dims shape = numpy::dims_of(at(base, "shape"));
    const Order order = numpy::order_of(at(base, "order"));
    HostNDArray array = pinned ? pinned_array(shape, dtype, order) : host_array(shape, dtype, order);
    const Bytes bytes = numpy::bytes_of(at(base, "memory").string());
    REQUIRE(static_cast<std::int64_t>(bytes.size()) == array.size_bytes());
    if (!bytes.empty()) std::memcpy(array.writable_data(), bytes.data(), bytes.size());
    return array;
}

/// All elements in C order.
Bytes elements_of(const HostNDArray& array) {
    const HostNDArray packed = array.copy();
    Bytes bytes(static_cast<std::size_t>(packed.size_bytes()));
    if (!bytes.empty()) std::memcpy(bytes.data(), packed.data(), bytes.size());
    return bytes;
}

Bytes memory_of(const HostNDArray& base) {
    Bytes bytes(static_cast<std::size_t>(base.size_bytes()));
    if (!bytes.empty()) std::memcpy(bytes.data(), base.data(), bytes.size());
    return bytes;
}

/// Calls `f` with a value of the type that the elements are; false if C++ has none.
template <class F>
bool with_value(const DType& dtype, const Bytes& bytes, F&& f) {
    const auto as = [&]<class T>(T value) {
        if (dtype != dtype_of<T>()) return false;
        std::memcpy(&value, bytes.data(), sizeof value);
        f(value);
        return true;
    };
    return as(bool()) || as(std::int8_t()) || as(std::uint8_t()) || as(std::int16_t()) || as(std::uint16_t()) ||
           as(std::int32_t()) || as(std::uint32_t()) || as(std::int64_t()) || as(std::uint64_t()) || as(float()) ||
           as(double()) || as(std::complex<float>()) || as(std::complex<double>());
}

struct OnHost {
    static constexpr const char* name = "host";
    void assign(HostNDArray& to, const HostNDArray& from) const { to.copy_from(from); }
    void assign_view(HostNDArray& to, const HostView& from) const { to.copy_from(from); }
    template <class T>
    void fill(HostNDArray& to, const T& value) const {
        to.fill(value);
    }
    template <class T>
    void set(HostNDArray& to, const Dims& index, const T& value) const {
        to.set(index, value);
    }
    HostNDArray base(const HostNDArray& array) const { return array.copy(Order::A); }
    HostNDArray seen(const HostNDArray& array) const { return array; }
};

struct OnDevice {
    static constexpr const char* name = "device";
    Stream& stream;

    void assign(DeviceNDArray& to, const DeviceNDArray& from) const { to.copy_to_device(from, stream); }
    void assign(DeviceNDArray& to, const HostNDArray& from) const { to.copy_to_device(from, stream); }
    void assign_view(DeviceNDArray& to, const HostView& from) const { to.copy_to_device(from, stream); }
    template <class T>
    void fill(DeviceNDArray& to, const T& value) const {
        to.fill(value, stream);
    }
    template <class T>
    void set(DeviceNDArray& to, const Dims& index, const T& value) const {
        to.set(index, value, stream);
    }
    DeviceNDArray base(const HostNDArray& array) const { return to_device(array, stream); }
    HostNDArray seen(const DeviceNDArray& array) const {
        const HostNDArray host = array.copy_to_host(stream);
        stream.synchronize();
        return host;
    }
};

/// One case on one kind of array. Throws std::runtime_error if it differs from NumPy.
template <class Side>
class Replay {
  public:
    Replay(const PythonLiteral& one, const Side& side, bool pinned) : case_(one), side_(side), pinned_(pinned) {}

    void run() {
        const HostNDArray first = base_array(case_, pinned_);
        const auto base = side_.base(first);
        auto to = numpy::viewed(base, at(case_, "to"));
        require_elements(to, base.data(), "to");
        if (case_.find("refused")) {
            require_refused(to);
        } else {
            write(to, base);
        }
        if (memory_of(side_.seen(base)) != numpy::bytes_of(at(case_, "after").string()))
            throw std::runtime_error("the memory differs afterwards");
    }

  private:
    template <class Array>
    void require_elements(const Array& view, const void* base, const std::string& which) {
        const PythonLiteral& seen = at(case_, (which + "_is").c_str());
        numpy::require_seen(view, base, seen, which.c_str());
        if (elements_of(side_.seen(view)) != numpy::bytes_of(at(seen, "bytes").string()))
            throw std::runtime_error("'" + which + "': the elements differ");
    }

    template <class Array>
    void write(Array& to, const Array& base) {
        const std::string& what = at(case_, "do").string();
        if (what == "fill") return fill(to);
        if (what == "set") return set(to);
        if (const PythonLiteral* other = case_.find("other")) {
            const HostNDArray host = base_array(*other, !pinned_);
            assign_from(to, side_.base(host));
            return;
        }
        assign_from(to, base);
    }

    template <class Array>
    void assign_from(Array& to, const Array& base) {
        const Array from = numpy::viewed(base, at(case_, "from"));
        require_elements(from, base.data(), "from");
        side_.assign(to, from);
    }

    template <class Array>
    void fill(Array& to) {
        const Bytes value = numpy::bytes_of(at(case_, "value").string());
        if (with_value(to.dtype(), value, [&](const auto& typed) { side_.fill(to, typed); })) return;
        side_.assign_view(to,
                          {value.data(), to.dtype(), Layout::contiguous({}, to.itemsize()).broadcast_to(to.shape())});
    }

    template <class Array>
    void set(Array& to) {
        const Bytes value = numpy::bytes_of(at(case_, "value").string());
        const Dims index = numpy::dims_of(at(case_, "index"));
        if (with_value(to.dtype(), value, [&](const auto& typed) { side_.set(to, index, typed); })) return;
        if (case_.find("refused")) throw InvalidArgument("no value of this type can be given");
        std::vector<Index> indices(index.begin(), index.end());
        Array element = to.slice(std::span<const Index>(indices));
        side_.assign_view(element, {value.data(), to.dtype(), Layout::contiguous({}, to.itemsize())});
    }

    template <class Array>
    void require_refused(Array& to) {
        const std::string says = at(case_, "refused").string();
        try {
            if (at(case_, "do").string() == "assign") {
                side_.assign(to, to);
            } else {
                write(to, to);
            }
        } catch (const InvalidArgument&) {
            return;
        }
        throw std::runtime_error("it succeeds, but NumPy says: " + says);
    }

    const PythonLiteral& case_;
    const Side side_;
    const bool pinned_;
};

template <class Side>
std::string failure(const PythonLiteral& one, const Side& side, bool pinned) {
    try {
        Replay<Side>(one, side, pinned).run();
        return {};
    } catch (const std::exception& error) {
        return std::string("on the ") + side.name + ": " + error.what();
    }
}

/// The case without most of its bytes, which the generator can print again.
std::string shortened(const std::string& line) {
    std::string text;
    std::size_t digits = 0;
    for (const char c : line) {
        digits = std::isxdigit(static_cast<unsigned char>(c)) ? digits + 1 : 0;
        if (digits <= 32) text += c;
        if (digits == 33) text += "...";
    }
    return text;
}

void report(const std::string& line, std::int64_t number, const std::string& why) {
    FAIL_CHECK("seed " << test_support::test_seed() << ", case " << number << ": " << why
                       << "\nagain: HSADRV_TEST_SEED=" << test_support::test_seed() << " NUMPY_CASE=" << number
                       << " and this program\n"
                       << shortened(line));
}

}  // namespace

TEST_CASE("views, assignments, fills and refusals agree with NumPy, on the host and on the device",
          "[device][property]") {
    NEEDS_DEVICE();
    if (variable("NUMPY_CASES_COMMAND", "").empty()) SKIP_BECAUSE("there is no Python with NumPy: python3-numpy");
    Device device;
    Cases cases;
    std::string line;
    std::int64_t count = 0;
    int failures = 0;
    while (cases.next(line)) {
        ++count;
        const PythonLiteral one = PythonLiteral::parse(line);
        const std::int64_t number = at(one, "case").integer();
        const bool pinned = number % 3 == 0;
        std::string why = failure(one, OnHost(), pinned);
        if (why.empty()) why = failure(one, OnDevice{device.stream}, pinned);
        if (why.empty()) continue;
        if (++failures <= most_reported) report(line, number, why);
    }
    CHECK(cases.complete());
    CHECK(count > 0);
    CHECK(failures == 0);
    WARN(count << " cases with seed " << test_support::test_seed() << ", " << failures << " failed");
}
