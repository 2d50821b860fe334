// The speed of array transfers compared with the CPU's memcpy of as many bytes, and of a transpose compared with the
// one of two CPU loops: for each layout, from pageable and pinned memory. Every sample is verified.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "devicearray/devicearray.hpp"
#include "tests/hsadrv/bench/measure.hpp"

using namespace hsadrv;

namespace {

enum class Form { contiguous, pitched, transposed };
constexpr Form forms[] = {Form::contiguous, Form::pitched, Form::transposed};
const char* name_of(Form form) {
    return form == Form::contiguous ? "contiguous" : form == Form::pitched ? "pitched" : "transposed";
}

constexpr std::int64_t sides[] = {32, 512, 4096};  // 4 KiB, 1 MiB and 64 MiB of floats
const char* const size_names[] = {"4 KiB", "1 MiB", "64 MiB"};

/// The measurements of one kind of transfer: a line of the table at the end.
struct Line {
    std::string what;
    double speeds[std::size(sides)];
};
std::vector<Line> table;

void note(const std::string& what, std::size_t column, double speed) {
    auto line = std::find_if(table.begin(), table.end(), [&](const Line& l) { return l.what == what; });
    if (line == table.end()) line = table.insert(line, {what, {}});
    line->speeds[column] = speed;
}

/// A square of floats in host memory of a given form; in C order its values are 0, 1, 2, ….
HostNDArray host_square(std::int64_t side, Form form, bool pinned) {
    const Dims shape = form == Form::pitched ? Dims{side, 2 * side} : Dims{side, side};
    const HostNDArray memory = pinned ? pinned_array(shape, dtypes::float32) : host_array<float>(shape);
    HostNDArray(memory).fill(-1.0f);  // touches its pages
    if (form == Form::pitched) return memory.slice({Slice{}, Slice{0, side}});
    return form == Form::transposed ? memory.transpose() : memory;
}

class Bench {
  public:
    Bench(Stream& stream, std::size_t column)
        : stream_(stream), column_(column), side_(sides[column]), counting_(host_array<float>({side_, side_})) {
        float* const value = counting_.as<float>();
        for (std::int64_t i = 0; i < side_ * side_; ++i) value[i] = static_cast<float>(i);
        std::memset(other_.writable_data(), 0, bytes_);
    }

    void run(Form form, bool pinned) {
        const std::string kind = std::string(name_of(form)) + ", " + (pinned ? "pinned" : "pageable");
        const HostNDArray host = host_square(side_, form, pinned);
        HostNDArray(host).copy_from(counting_);
        const auto up = [&] {
            to_device(host, stream_, true, &array_);
            stream_.synchronize();
        };
        measure(
            "to_device, " + kind, form, up,
            [&] {
                array_.fill(-1.0f, stream_);
                stream_.synchronize();
            },
            [&] { return array_; });
        array_.copy_to_device(counting_, stream_);
        const auto down = [&] {
            array_.copy_to_host(host, stream_);
            stream_.synchronize();
        };
        measure("copy_to_host, " + kind, form, down, [&] { HostNDArray(host).fill(-1.0f); }, [&] { return host; });
    }

    /// The time to pack such an array on the CPU: a part of a transfer, not a transfer.
    void run_on_cpu() {
        const HostNDArray turned = host_square(side_, Form::transposed, false);
        HostNDArray(turned).copy_from(counting_);
        measure(
            "the CPU alone, transposed", Form::transposed, [&] { HostNDArray(other_).copy_from(turned); },
            [&] { HostNDArray(other_).fill(-1.0f); }, [&] { return other_; });
    }

  private:
    /// `place()` is where the numbers must be afterwards.
    template <class Transfer, class Spoil, class Place>
    void measure(const std::string& what, Form form, Transfer&& transfer, Spoil&& spoil, Place&& place) {
        const auto verify = [&] {
            if (contents(place()).equal(counting_)) return;
            std::fprintf(stderr, "%s, %s: wrong elements\n", what.c_str(), size_names[column_]);
            std::exit(1);
        };
        const auto against = [&](const char* name, auto&& theirs) {
            const bench::Ratio ratio = bench::compare(theirs, transfer, spoil, verify, rounds(transfer));
            const std::string row = what + " / " + name;
            bench::print((row + ", " + size_names[column_]).c_str(), ratio, ratio.speed(), "");
            note(row, column_, ratio.speed());
        };
        against("memcpy", [&] { std::memcpy(other_.writable_data(), counting_.data(), bytes_); });
        if (form == Form::transposed) against("two loops", [&] { transpose(); });
    }

    /// Enough for percentiles, within a few seconds.
    template <class Transfer>
    static int rounds(Transfer&& transfer) {
        return std::clamp(static_cast<int>(1e9 / bench::time_ns(transfer)), 3, 16);
    }

    void transpose() {
        const float* const from = counting_.as<const float>();
        float* const to = other_.as<float>();
        for (std::int64_t i = 0; i < side_; ++i)
            for (std::int64_t j = 0; j < side_; ++j) to[j * side_ + i] = from[i * side_ + j];
    }

    HostNDArray contents(const HostNDArray& array) const { return array; }
    HostNDArray contents(const DeviceNDArray& array) const {
        HostNDArray host = array.copy_to_host(verified_, stream_);
        stream_.synchronize();
        return host;
    }

    Stream& stream_;
    std::size_t column_;
    std::int64_t side_;
    std::size_t bytes_ = static_cast<std::size_t>(side_ * side_) * sizeof(float);
    HostNDArray counting_, other_ = host_array<float>({side_, side_}),
                           verified_ = pinned_array({side_, side_}, dtypes::float32);
    DeviceNDArray array_ = device_array<float>({side_, side_}, stream_);
};

void print_table() {
    std::printf("\nspeed as a part of the other's %24s", "");
    for (const char* size : size_names) std::printf("  %8s", size);
    for (const Line& line : table) {
        std::printf("\n%-54s", line.what.c_str());
        for (const double speed : line.speeds) std::printf("  %8.2g", speed);
    }
    std::printf("\n");
}

}  // namespace

int main() try {
    const Driver driver;
    Stream stream(driver.gpus().front());
    for (std::size_t column = 0; column < std::size(sides); ++column) {
        Bench bench(stream, column);
        for (const Form form : forms)
            for (const bool pinned : {false, true}) bench.run(form, pinned);
        bench.run_on_cpu();
    }
    print_table();
    return 0;
} catch (const NoDevice& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
}
