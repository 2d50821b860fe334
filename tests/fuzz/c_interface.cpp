// Random sequences of calls of the C interface, with handles that are live, destroyed, of other kinds or no handles, on
// the emulated device. Each call succeeds, or fails with a result, that result as the thread's last error, and a
// message; at the end no handle is left. Addresses are valid, as the interface requires; sizes are not.
#include "tests/fuzz/c_launch_steps.hpp"

using namespace c_fuzz;

namespace {

/// One input: handles of all kinds, by the order of their making.
class Sequence : LaunchSteps {
  public:
    explicit Sequence(fuzz::Input& in) : LaunchSteps(in) {}

    void run() {
        add(world().driver);
        add(world().gpu);
        add(world().scale_add);
        make_stream();
        make_memory();
        for (unsigned step = 0; step < most_steps && !in_.empty(); ++step) one();
        end();
    }

  private:
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
        saw(hsadrv_signal_destroy(static_cast<hsadrv_signal>(handle)));
        saw(hsadrv_physical_memory_destroy(static_cast<hsadrv_physical_memory>(handle)));
        saw(hsadrv_virtual_range_destroy(static_cast<hsadrv_virtual_range>(handle)));
        saw(hsadrv_memory_resource_destroy(static_cast<hsadrv_memory_resource>(handle)));
        saw(hsadrv_graph_builder_destroy(static_cast<hsadrv_graph_builder>(handle)));
        saw(hsadrv_memory_destroy(static_cast<hsadrv_memory>(handle)));
        saw(hsadrv_registration_destroy(static_cast<hsadrv_registration>(handle)));
        saw(hsadrv_event_destroy(static_cast<hsadrv_event>(handle)));
        saw(hsadrv_kernel_destroy(static_cast<hsadrv_kernel>(handle)));
        saw(hsadrv_graph_destroy(static_cast<hsadrv_graph>(handle)));
    }
    void one() {
        static std::atomic<int> calls = 0;
        switch (in_.below(36)) {
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
            case 21:
            case 22:
                return make_signal();
            case 23:
            case 24:
                return use_signal();
            case 25:
                return share();
            case 26:
                return exchange();
            case 27:
                return make_managed();
            case 28:
                return advise();
            case 29:
                return prefetch();
            case 30:
                return map();
            case 31:
                return make_from_resource();
            case 32:
                return make_builder();
            case 33:
            case 34:
                return build();
            default:
                return in_.below(4) ? destroy(any()) : saw(hsadrv_memory_destroy_on(memory(), stream()));
        }
    }
    void end() {
        for (void* handle : handles_) saw(hsadrv_stream_destroy(static_cast<hsadrv_stream>(handle), 10 * second_ns));
        for (void* handle : handles_) destroy(handle);
        if (hsadrv::c::HandleTable::process().size() != world().handles) fuzz::broken("a handle is left");
    }
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in{data, size};
    world();
    Sequence(in).run();
    return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() { return random_seeds(12, 800); }
