// hsadrv bench: how fast copies, launches, allocations and kernels are.
#include "tools/hsadrv/bench/declare.hpp"

#include "tools/hsadrv/subcommands.hpp"

namespace hsadrv_tool {

Run declare_bench(tools::CommandSyntax& command) {
    struct Benchmark {
        const char* name;
        const char* summary;
        Run (*declare)(tools::CommandSyntax& command);
    };
    static constexpr Benchmark all[] = {
        {"copy", "copies between host, device and peer, over the size", hsadrv_bench::declare_copy},
        {"launch", "kernel launches: latency, rate and instructions of each way to launch",
         hsadrv_bench::declare_launch},
        {"alloc", "allocating, freeing and locking memory, over the size", hsadrv_bench::declare_alloc},
        {"kernel", "arithmetic, LDS and global memory, by kernels that do little else", hsadrv_bench::declare_kernel},
    };
    // Filled in while the command line is parsed: the option tree no longer exists when a subcommand runs.
    struct Chosen {
        Run run;
        std::vector<std::string> words;
    };
    auto chosen = std::make_shared<Chosen>();
    for (const Benchmark& benchmark : all) {
        tools::CommandSyntax own{.name = benchmark.name, .summary = benchmark.summary};
        own.when_chosen = [chosen, run = benchmark.declare(own)] { chosen->run = run; };
        command.subcommands.push_back(std::move(own));
    }
    command.others = &chosen->words;  // refused below with a better message
    command.footer =
        "hsadrv bench NAME --help lists its options. On an emulated GPU the figures measure the emulator "
        "only.";
    return [chosen](Session& session) {
        if (chosen->run) return chosen->run(session);
        throw tools::Failure(exit_status::usage,
                             (chosen->words.empty() ? "bench: missing benchmark"
                                                    : "bench: there is no '" + chosen->words.front() + "'") +
                                 std::string(": there are copy, launch, alloc and kernel\n"
                                             "hsadrv bench --help describes them"));
    };
}

}  // namespace hsadrv_tool
