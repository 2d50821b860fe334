// Random sequences of calls of the C interface, with handles that are live, destroyed, of other kinds or no handles, on
// the emulated device. Each call succeeds, or fails with a result, that result as the thread's last error, and a
// message; at the end no handle is left. Addresses are valid, as the interface requires; sizes are not.
#include <atomic>
#include <cstdlib>
#include <random>
#include <string>

#include "fuzz.hpp"
#include "hsadrv/c/handle_table.hpp"
#include "hsadrv/hsadrv.h"

namespace {

constexpr std::size_t buffer_bytes = 64 << 10;
constexpr unsigned most_steps = 60;
constexpr std::uint64_t second_ns = 1'000'000'000;

/// What outlives every input. Leaked on purpose: the runtime is not shut down from a static destructor.
struct World {
    hsadrv_driver driver = nullptr;
    hsadrv_device gpu = nullptr;
    hsadrv_executable code = nullptr;
    hsadrv_kernel scale_add = nullptr;
    std::vector<std::byte> from = std::vector<std::byte>(buffer_bytes), to = from;
    std::size_t handles = 0;

    World() {
        setenv("KFDEMU", "on,gpu=" FUZZ_TARGET ",workers=1", 1);
        const bool made = hsadrv_driver_create(&driver) == HSADRV_SUCCESS &&
                          hsadrv_driver_device(driver, 0, &gpu) == HSADRV_SUCCESS &&
                          hsadrv_executable_load_file(gpu, TEST_KERNEL_DIR "/stream.hsaco", &code) == HSADRV_SUCCESS &&
                          hsadrv_executable_kernel(code, "scale_add", &scale_add) == HSADRV_SUCCESS;
        if (!made) fuzz::broken(hsadrv_last_error_message());
        handles = hsadrv::c::HandleTable::process().size();
    }
};

World& world() {
    static auto* const made = new World;
    return *made;
}

int host_function(void* user) { return static_cast<std::atomic<int>*>(user)->fetch_add(1) % 16 == 15; }
void release(void*) {}
void completion(hsadrv_result, const char* message, void*) {
    if (!message) fuzz::broken("a completion without a message");
}

/// A structure with memory after it, for every struct_size that is read.
template <class T>
struct WithRoom {
    T known{};
    std::byte more[4096]{};
};

/// One input: handles of all kinds, by the order of their making.
class Sequence {
  public:
    explicit Sequence(fuzz::Input& in) : in_(in) {}

    void run() {
        add(world().gpu);
        add(world().scale_add);
        make_stream();
        make_memory();
        for (unsigned step = 0; step < most_steps && !in_.empty(); ++step) one();
        end();
    }

  private:
    template <class Handle>
    void add(Handle handle) {
        if (handle) handles_.push_back(handle);
    }
    /// A live or destroyed handle of any kind, or any number.
    void* any() {
        const unsigned choice = in_.below(24);
        if (choice == 0) return nullptr;
        if (choice == 1) return reinterpret_cast<void*>(in_.take<std::uintptr_t>());
        return handles_[in_.take<std::uint8_t>() % handles_.size()];
    }
    /// Mostly one of that kind, the latest or another.
    template <class Handle>
    Handle some(hsadrv::c::HandleKind kind) {
        void* const first = any();
        const auto& table = hsadrv::c::HandleTable::process();
        if (in_.below(8) == 0) return static_cast<Handle>(first);
        for (std::size_t i = handles_.size(); i-- > 0;) {
            if (table.kind_of(handles_[i]) == kind && (table.find(handles_[i], kind) || in_.below(4) == 0))
                return static_cast<Handle>(handles_[i]);
        }
        return static_cast<Handle>(first);
    }
    hsadrv_device device() { return some<hsadrv_device>(hsadrv::c::HandleKind::device); }
    hsadrv_memory memory() { return some<hsadrv_memory>(hsadrv::c::HandleKind::memory); }
    hsadrv_stream stream() { return some<hsadrv_stream>(hsadrv::c::HandleKind::stream); }
    hsadrv_event event() { return some<hsadrv_event>(hsadrv::c::HandleKind::event); }
    hsadrv_kernel kernel() { return some<hsadrv_kernel>(hsadrv::c::HandleKind::kernel); }
    hsadrv_graph graph() { return some<hsadrv_graph>(hsadrv::c::HandleKind::graph); }
    std::uint64_t timeout() { return in_.below(8) == 0 ? 0 : second_ns; }
    std::size_t size() {
        const unsigned choice = in_.below(8);
        return choice == 0 ? 0 : choice == 1 ? SIZE_MAX - in_.take<std::uint8_t>() : in_.take<std::uint16_t>();
    }

    void saw(hsadrv_result result) {
        if (result == HSADRV_SUCCESS) return;
        if (result < 0 || result > HSADRV_ERROR_UNKNOWN) fuzz::broken("a result that is none");
        if (result == HSADRV_ERROR_UNKNOWN) fuzz::broken(hsadrv_last_error_message());
        if (result == HSADRV_ERROR_MEMORY_FAULT || result == HSADRV_ERROR_DEVICE_LOST)
            fuzz::broken(hsadrv_last_error_message());
        if (hsadrv_last_error() != result) fuzz::broken("the last error is another one");
        if (!*hsadrv_last_error_message()) fuzz::broken("an error without a message");
    }
    template <class Handle>
    void made(hsadrv_result result, Handle handle) {
        saw(result);
        if ((result == HSADRV_SUCCESS) != (handle != nullptr))
            fuzz::broken("a handle without success, or none with it");
        add(handle);
    }

    void make_stream() {
        hsadrv_stream made_stream = nullptr;
        WithRoom<hsadrv_stream_options> room;
        hsadrv_stream_options& options = room.known;
        room.more[0] = in_.below(4) ? std::byte{} : std::byte{1};
        options.struct_size = in_.below(6) ? sizeof options : size();
        options.packets = in_.below(4) ? 0 : in_.take<std::uint16_t>();
        options.priority = in_.below(4) ? 0 : in_.below(5);
        const auto result = hsadrv_stream_create(device(), in_.below(2) ? &options : nullptr, &made_stream);
        made(result, made_stream);
    }
    void make_memory() {
        hsadrv_memory made_memory = nullptr;
        const auto result = hsadrv_memory_create(device(), in_.below(5), size(), &made_memory);
        made(result, made_memory);
    }
    void make_registration() {
        hsadrv_registration registration = nullptr;
        const std::size_t bytes = in_.take<std::uint16_t>();
        const auto result = hsadrv_registration_create(in_.below(2) ? device() : nullptr, world().from.data(), bytes,
                                                       in_.below(5), &registration);
        made(result, registration);
    }
    /// An address, and the memory that it is of; null: it is of a buffer.
    struct Place {
        void* address = nullptr;
        hsadrv_memory memory = nullptr;
    };
    /// `size_bytes` is cut to a buffer's size.
    Place place(std::vector<std::byte>& buffer, std::size_t& size_bytes) {
        if (in_.below(2)) {
            size_bytes = size_bytes > buffer.size() ? buffer.size() : size_bytes;
            return {buffer.data()};
        }
        Place found{nullptr, memory()};
        saw(hsadrv_memory_address(found.memory, &found.address));
        return found;
    }
    /// What was enqueued uses it: the memory may be destroyed from now on.
    void hold(hsadrv_stream on, const Place& place) {
        if (place.memory) saw(hsadrv_stream_hold(on, place.memory));
    }
    void copy() {
        const hsadrv_stream on = stream();
        std::size_t bytes = size();
        const Place to = place(world().to, bytes), from = place(world().from, bytes);
        saw(in_.below(2) ? hsadrv_stream_copy(on, to.address, from.address, bytes, timeout())
                         : hsadrv_stream_copy_and_wait(on, to.address, from.address, bytes, timeout()));
        hold(on, to);
        hold(on, from);
    }
    void fill() {
        const hsadrv_stream on = stream();
        std::size_t bytes = size();
        const Place to = place(world().to, bytes);
        const std::size_t pattern = in_.below(64);
        saw(hsadrv_stream_fill(on, to.address, bytes, world().from.data(), pattern, timeout()));
        hold(on, to);
    }

    /// Of scale_add(data, factor, summand, n), with fields changed. n is zero unless `data` is large enough for it.
    struct Launch {
        WithRoom<hsadrv_launch_config> room;
        hsadrv_launch_config& config = room.known;
        hsadrv_argument arguments[6]{};
        std::size_t count = 4;
        std::uint64_t words[6][4]{};
        std::uint32_t offsets[2]{};
    };
    void describe(Launch& launch) {
        launch.config.struct_size = in_.below(12) ? sizeof launch.config : size();
        launch.config.grid[0] = in_.below(8) ? 64 : in_.take<std::uint16_t>();
        launch.config.workgroup[0] = in_.below(8) ? 64 : in_.take<std::uint16_t>();
        launch.config.workgroup[1] = in_.below(12) ? 0 : in_.below(4);
        launch.config.lds_bytes = in_.below(8) ? 0 : in_.take<std::uint32_t>();
        launch.config.lds_count = in_.below(12) ? 0 : in_.below(20);
        if (launch.config.lds_count <= 2) launch.config.lds_offsets_bytes = launch.offsets;
        if (in_.below(12) == 0) launch.count = in_.below(7);
        launch.arguments[0] = hsadrv_argument_memory(memory(), HSADRV_ARGUMENT_INTEGER, 4);
        for (std::size_t i = 1; i < 6; ++i)
            launch.arguments[i] = hsadrv_argument_value(HSADRV_ARGUMENT_INTEGER, launch.words[i], 4);
        while (in_.below(3) == 0 && !in_.empty()) change(launch.arguments[in_.below(6)]);
        std::size_t bytes = 0;
        const hsadrv_argument& data = launch.arguments[0];
        if (hsadrv_memory_size(data.memory, &bytes) == HSADRV_SUCCESS && bytes >= 256 && data.offset_bytes == 0)
            launch.words[3][0] = 64;
    }
    void change(hsadrv_argument& argument) {
        switch (in_.below(6)) {
            case 0:
                argument.kind = in_.below(8);
                break;
            case 1:
                argument.element_kind = in_.below(8);
                break;
            case 2:
                argument.size_bytes = in_.below(33);
                break;
            case 3:
                argument.memory = in_.below(2) ? nullptr : memory();
                break;
            case 4:
                argument.offset_bytes = size();
                break;
            default:
                argument.value = nullptr;
        }
    }
    void launch() {
        Launch described;
        describe(described);
        saw(hsadrv_kernel_launch(kernel(), stream(), &described.config, described.arguments, described.count,
                                 timeout()));
    }
    void update() {
        Launch described;
        describe(described);
        saw(hsadrv_graph_update(graph(), in_.below(4), kernel(), &described.config, described.arguments,
                                described.count, timeout()));
    }
    void record() {
        hsadrv_event recorded = nullptr;
        const auto result = hsadrv_stream_record(stream(), in_.below(3), timeout(), &recorded);
        made(result, recorded);
    }
    void end_capture() {
        hsadrv_graph recorded = nullptr;
        const auto result = hsadrv_stream_end_capture(stream(), &recorded);
        made(result, recorded);
    }
    void make_kernel() {
        hsadrv_kernel found = nullptr;
        const auto code = some<hsadrv_executable>(hsadrv::c::HandleKind::executable);
        const auto result =
            hsadrv_executable_kernel(in_.below(3) ? world().code : code, in_.below(4) ? "scale_add" : "scale", &found);
        made(result, found);
    }
    void ask() {
        int done = 0;
        std::int64_t elapsed_ns = 0;
        std::size_t number = 0;
        void* address = nullptr;
        const char* name = nullptr;
        hsadrv_kernel_facts kernel_facts{};
        hsadrv_argument_facts argument_facts{};
        kernel_facts.struct_size = in_.below(2) ? sizeof kernel_facts : 0;
        argument_facts.struct_size = in_.below(2) ? sizeof argument_facts : 8;
        saw(hsadrv_stream_query(stream(), &done));
        saw(hsadrv_event_query(event(), &done));
        saw(hsadrv_event_elapsed(event(), event(), &elapsed_ns));
        saw(hsadrv_memory_address(memory(), &address));
        saw(hsadrv_registration_address(some<hsadrv_registration>(hsadrv::c::HandleKind::registration), &address));
        saw(hsadrv_graph_size(graph(), &number, nullptr));
        saw(hsadrv_kernel_info(kernel(), &kernel_facts));
        saw(hsadrv_kernel_argument_info(kernel(), in_.below(6), &argument_facts));
        saw(hsadrv_executable_kernel_name(world().code, in_.below(8), &name));
        saw(hsadrv_memory_allow_access(memory(), device()));
    }
    void destroy(void* handle) {
        if (handle == world().gpu || handle == world().scale_add || handle == world().code) return;
        saw(hsadrv_memory_destroy(static_cast<hsadrv_memory>(handle)));
        saw(hsadrv_registration_destroy(static_cast<hsadrv_registration>(handle)));
        saw(hsadrv_event_destroy(static_cast<hsadrv_event>(handle)));
        saw(hsadrv_kernel_destroy(static_cast<hsadrv_kernel>(handle)));
        saw(hsadrv_graph_destroy(static_cast<hsadrv_graph>(handle)));
    }
    void one() {
        static std::atomic<int> calls = 0;
        switch (in_.below(22)) {
            case 0:
                return make_stream();
            case 1:
            case 2:
                return make_memory();
            case 3:
                return make_registration();
            case 4:
                return make_kernel();
            case 5:
                return record();
            case 6:
            case 7:
                return copy();
            case 8:
                return fill();
            case 9:
            case 10:
            case 11:
                return launch();
            case 12:
                return saw(hsadrv_stream_synchronize(stream(), timeout()));
            case 13:
                return saw(hsadrv_stream_wait(stream(), event(), timeout()));
            case 14:
                return saw(hsadrv_stream_call(stream(), host_function, &calls, release, timeout()));
            case 15:
                return saw(hsadrv_stream_begin_capture(stream()));
            case 16:
                return end_capture();
            case 17:
                return saw(hsadrv_graph_launch(graph(), stream(), timeout()));
            case 18:
                return update();
            case 19:
                return saw(hsadrv_stream_on_complete(stream(), completion, nullptr, timeout()));
            case 20:
                return ask();
            default:
                return in_.below(4) ? destroy(any()) : saw(hsadrv_memory_destroy_on(memory(), stream()));
        }
    }
    void end() {
        for (void* handle : handles_) saw(hsadrv_stream_destroy(static_cast<hsadrv_stream>(handle), 10 * second_ns));
        for (void* handle : handles_) destroy(handle);
        if (hsadrv::c::HandleTable::process().size() != world().handles) fuzz::broken("a handle is left");
    }

    fuzz::Input& in_;
    std::vector<void*> handles_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in{data, size};
    world();
    Sequence(in).run();
    return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() {
    std::vector<Bytes> made;
    for (unsigned seed = 1; seed <= 12; ++seed) {
        std::mt19937 random{seed};
        Bytes bytes(800);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        made.push_back(bytes);
    }
    return made;
}
