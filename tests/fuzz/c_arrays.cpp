// Random sequences of calls of the C interface of arrays: descriptions that are arrays, views of views, and
// descriptions that are none. Each call succeeds, or fails with a result and a message; a view's elements are among
// those of its array; memory around a destination stays as it was; at the end no handle is left. Transfers are of
// memory that is there.
#include <cstdio>

#include "devicearray/devicearray.h"
#include "tests/fuzz/c_handles.hpp"

using namespace c_fuzz;

namespace {

constexpr std::size_t most_bytes = 16 << 10;

const char* const types[] = {"<f4",
                             "float64",
                             "|i1",
                             ">u2",
                             "<c8",
                             "?",
                             "bfloat16",
                             "[('x', '<f4'), ('y', '<i2', (3,))]",
                             "[('in', [('q', '<u2'), ('r', '|b1')]), ('v', '|V4')]",
                             "{'names': ['a', 'b'], 'formats': ['i1', '<c8'], 'offsets': [8, 0]}",
                             "V7",
                             "M8[ns]",
                             "<U3",
                             "",
                             "nonsense",
                             "[('x', "};

/// Elements of one byte before and after a buffer, which no call may touch.
struct Guarded {
    std::vector<std::byte> bytes = std::vector<std::byte>(3 * most_bytes, std::byte{0x5a});
    std::byte* first() { return bytes.data() + most_bytes; }
    void require_whole() const {
        const auto is_same = [](std::byte byte) { return byte == std::byte{0x5a}; };
        if (!std::all_of(bytes.begin(), bytes.begin() + most_bytes, is_same) ||
            !std::all_of(bytes.end() - most_bytes, bytes.end(), is_same))
            fuzz::broken("memory beside the array was written");
    }
};

/// Of all inputs, until exit.
struct Count {
    ~Count() {
        std::printf("%zu arrays, %zu views, %zu transfers and %zu exchanges succeeded\n", arrays, views, transfers,
                    exchanges);
    }
    std::size_t arrays = 0, views = 0, transfers = 0, exchanges = 0;
};
Count& count() {
    static Count counted;
    return counted;
}

/// Relative to the first byte of all memory; empty: begin == end.
struct Extent {
    std::uintptr_t begin = 0, end = 0;
};

class Sequence : Handles {
  public:
    explicit Sequence(fuzz::Input& in) : Handles(in) {
        add(world().gpu);
        hsadrv_stream made_stream = nullptr;
        made_by([&] { return hsadrv_stream_create(world().gpu, nullptr, &made_stream); }, made_stream);
        on_ = made_stream;
    }

    void run() {
        for (unsigned step = 0; step < most_steps && !in_.empty(); ++step) one();
        saw(hsadrv_stream_destroy(on_, 10 * second_ns));
        for (const hsadrv_array& array : arrays_) destroy(array);
        host_.require_whole();
        if (hsadrv::c::HandleTable::process().size() != world().handles) fuzz::broken("a handle is left");
    }

  private:
    void destroy(const hsadrv_array& array) {
        if (array.memory && std::find(ended_.begin(), ended_.end(), array.memory) == ended_.end()) {
            saw(hsadrv_memory_destroy(array.memory));
            ended_.push_back(array.memory);
        }
    }

    std::int64_t extent() {
        const unsigned choice = in_.below(16);
        if (choice == 0) return in_.take<std::int64_t>();
        return choice == 1 ? -1 - in_.below(3) : in_.below(9);
    }
    void fill(std::int64_t (&list)[HSADRV_ARRAY_MAX_RANK], std::uint32_t rank) {
        for (std::uint32_t axis = 0; axis < std::min<std::uint32_t>(rank, HSADRV_ARRAY_MAX_RANK); ++axis)
            list[axis] = extent();
    }
    std::uint32_t rank() { return in_.below(40) ? in_.below(5) : in_.take<std::uint32_t>(); }

    /// Any description; without memory.
    hsadrv_array described() {
        hsadrv_array array{};
        array.struct_size = in_.below(32) ? sizeof array : size() % sizeof array;
        array.dtype = in_.below(64) ? types[in_.below(std::size(types))] : nullptr;
        array.rank = rank();
        array.flags = in_.below(32) ? 0 : in_.take<std::uint32_t>();
        fill(array.shape, array.rank);
        if (in_.below(3) == 0) array.flags |= HSADRV_ARRAY_STRIDED;
        if (array.flags & HSADRV_ARRAY_STRIDED) {
            fill(array.strides_bytes, array.rank);
            for (std::int64_t& stride : array.strides_bytes)
                if (in_.below(2)) stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) * 4);
        }
        return array;
    }

    /// False: what is described is no array.
    bool extent_of(const hsadrv_array& array, Extent& extent) {
        std::int64_t begin = 0;
        std::size_t bytes = 0;
        const hsadrv_result result = hsadrv_array_extent(&array, &begin, &bytes);
        saw(result);
        extent.begin = reinterpret_cast<std::uintptr_t>(array.data) + static_cast<std::uintptr_t>(begin);
        extent.end = extent.begin + bytes;
        return result == HSADRV_SUCCESS;
    }

    void make_on_gpu() {
        hsadrv_array array = described();
        const hsadrv_result result = hsadrv_array_create(on_, &array);
        saw(result);
        if (result != HSADRV_SUCCESS) return;
        add(array.memory);
        Extent extent;
        if (!extent_of(array, extent)) fuzz::broken("an array that was made is none");
        if (extent.end - extent.begin <= most_bytes) return arrays_.push_back(array);
        destroy(array);
    }
    void make_on_host() {
        hsadrv_array array = described();
        std::int64_t begin = 0;
        std::size_t bytes = 0;
        const hsadrv_result result = hsadrv_array_extent(&array, &begin, &bytes);
        saw(result);
        if (result != HSADRV_SUCCESS || bytes > most_bytes) return;
        array.data = host_.first() - begin;
        ++count().arrays;
        arrays_.push_back(array);
    }

    hsadrv_array any_array() {
        if (arrays_.empty()) return {};
        return arrays_[in_.take<std::uint8_t>() % arrays_.size()];
    }

    void keep_view(const hsadrv_array& whole, hsadrv_result result, const hsadrv_array& view) {
        saw(result);
        if (result != HSADRV_SUCCESS) return;
        Extent outer, inner;
        if (!extent_of(whole, outer) || !extent_of(view, inner)) fuzz::broken(hsadrv_last_error_message());
        if (whole.data && inner.begin != inner.end && (inner.begin < outer.begin || inner.end > outer.end))
            fuzz::broken("a view has elements that its array has not");
        if ((whole.flags & HSADRV_ARRAY_READ_ONLY) && !(view.flags & HSADRV_ARRAY_READ_ONLY))
            fuzz::broken("a view of a read-only array is none");
        ++count().views;
        if (arrays_.size() < 200) arrays_.push_back(view);
    }
    void slice(const hsadrv_array& whole, hsadrv_array& view) {
        hsadrv_index indices[6]{};
        for (hsadrv_index& index : indices) {
            index.kind = in_.below(32) ? in_.below(4) : in_.take<std::uint32_t>();
            index.given = in_.below(32) ? in_.below(8) : in_.take<std::uint32_t>();
            index.start = extent() - static_cast<std::int64_t>(in_.below(4));
            index.stop = extent();
            index.step = extent() - 3;
        }
        const std::size_t count = in_.below(32) ? in_.below(6) : size();
        keep_view(whole, hsadrv_array_slice(&whole, count > 6 ? nullptr : indices, count, &view), view);
    }
    void look() {
        const hsadrv_array whole = in_.below(8) ? any_array() : described();
        hsadrv_array view{};
        view.struct_size = in_.below(32) ? sizeof view : size() % sizeof view;
        std::int64_t shape[HSADRV_ARRAY_MAX_RANK]{};
        const std::uint32_t wanted = rank();
        fill(shape, wanted);
        std::int32_t axes[HSADRV_ARRAY_MAX_RANK];
        for (std::int32_t& axis : axes) axis = static_cast<std::int32_t>(in_.below(6)) - 1;
        switch (in_.below(7)) {
            case 0:
            case 1:
                return slice(whole, view);
            case 2:
                return keep_view(whole, hsadrv_array_reshape(&whole, shape, wanted, "CFA?"[in_.below(4)], &view), view);
            case 3:
                return keep_view(whole, hsadrv_array_transpose(&whole, in_.below(2) ? axes : nullptr, &view), view);
            case 4:
                return keep_view(whole, hsadrv_array_broadcast(&whole, shape, wanted, &view), view);
            case 5: {
                static const char* const names[] = {"x", "y", "in", "q", "a", "", nullptr};
                return keep_view(whole, hsadrv_array_field(&whole, names[in_.below(std::size(names))], &view), view);
            }
            default:
                return keep_view(whole, hsadrv_array_view(&whole, types[in_.below(std::size(types))], &view), view);
        }
    }

    void transfer() {
        const hsadrv_array to = any_array(), from = in_.below(2) ? any_array() : to;
        static const std::byte value[256]{};
        const hsadrv_result result = transferred(to, from, value);
        saw(result);
        count().transfers += result == HSADRV_SUCCESS;
    }
    hsadrv_result transferred(const hsadrv_array& to, const hsadrv_array& from, const std::byte* value) {
        switch (in_.below(4)) {
            case 0:
                return hsadrv_array_copy(on_, &to, &from, timeout());
            case 1:
                return hsadrv_array_copy_and_wait(on_, &to, &from, timeout());
            case 2:
                return hsadrv_array_assign(on_, &to, &from, in_.below(5), timeout());
            default:
                return hsadrv_array_fill(on_, &to, in_.below(32) ? value : nullptr, timeout());
        }
    }

    void exchange() {
        const hsadrv_array array = in_.below(8) ? any_array() : described();
        const std::uint32_t versioned = in_.below(3);
        void* tensor = nullptr;
        const hsadrv_result result = hsadrv_array_export_dlpack(&array, versioned, &tensor);
        saw(result);
        if (result == HSADRV_SUCCESS) {
            hsadrv_array again{};
            again.struct_size = sizeof again;
            const hsadrv_result taken =
                in_.below(2) ? hsadrv_array_import_dlpack(tensor, versioned, &again) : HSADRV_ERROR_UNKNOWN;
            if (taken != HSADRV_SUCCESS) return saw(hsadrv_array_release_dlpack(tensor, versioned));
            ++count().exchanges;
            add(again.memory);
            Extent before, after;
            if (!extent_of(array, before) || !extent_of(again, after) ||
                (before.begin != before.end && (before.begin != after.begin || before.end != after.end)))
                fuzz::broken("an array that came back is another one");
            destroy(again);
        }
        char text[4096];
        std::size_t needed = 0;
        saw(hsadrv_array_export_ipc(&array, in_.below(8) ? text : nullptr, in_.below(8) ? sizeof text : 0, &needed));
    }

    void one() {
        switch (in_.below(12)) {
            case 0:
                return make_on_gpu();
            case 1:
                return make_on_host();
            case 2:
            case 3:
            case 4:
            case 5:
                return look();
            case 6:
                return exchange();
            case 7:
                return saw(hsadrv_stream_synchronize(on_, timeout()));
            default:
                return arrays_.empty() ? make_on_host() : transfer();
        }
    }

    hsadrv_stream on_ = nullptr;
    Guarded host_;
    std::vector<hsadrv_array> arrays_;
    std::vector<hsadrv_memory> ended_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in{data, size};
    world();
    Sequence(in).run();
    return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() { return random_seeds(12, 1500); }
