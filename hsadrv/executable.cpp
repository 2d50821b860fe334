#include "hsadrv/executable.hpp"

#include <hsa/hsa.h>

#include <mutex>
#include <set>
#include <vector>

#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/file_bytes.hpp"
#include "hsadrv/handle.hpp"
#include "hsadrv/offload_bundle.hpp"
#include "hsadrv/runtime.hpp"

namespace hsadrv {
namespace {

struct ReaderTraits {
    using Native = hsa_code_object_reader_t;
    static Native null() noexcept { return {0}; }
    static bool is_null(Native reader) noexcept { return reader.handle == 0; }
    static void destroy(Native reader) noexcept { hsa_code_object_reader_destroy(reader); }
};

struct ExecutableTraits {
    using Native = hsa_executable_t;
    static Native null() noexcept { return {0}; }
    static bool is_null(Native executable) noexcept { return executable.handle == 0; }
    static void destroy(Native executable) noexcept { hsa_executable_destroy(executable); }
};

std::vector<TargetId> targets_of(AgentRef gpu) {
    std::vector<TargetId> targets;
    for (const Isa& isa : gpu.isas()) {
        try {
            targets.push_back(TargetId::parse(isa.name));
        } catch (const InvalidArgument&) {
            // An ISA spelled in a way we cannot read is one that we cannot match; others may still do.
        }
    }
    return targets;
}

/// Repeats an error with the name of what was being loaded in front.
template <class Work>
auto naming(const std::string& name, Work&& work) {
    try {
        return work();
    } catch (const InvalidCodeObject& error) {
        throw InvalidCodeObject("'" + name + "': " + error.what(), error.status());
    }
}

}  // namespace

namespace detail {

struct ExecutableState {
    DriverRef driver = Driver::current();  // first, so that the runtime outlives the rest
    AgentRef agent;
    std::string name;
    std::vector<std::byte> bytes;  // the loader keeps a pointer to them for debuggers
    CodeObject code;
    LaunchLimits limits;
    UniqueHandle<ReaderTraits> reader;
    UniqueHandle<ExecutableTraits> executable;
    std::mutex mutex;
    std::set<std::uint64_t> noted;  // kernel objects whose names the runtime knows, for messages about faults

    ExecutableState() = default;
    ExecutableState(const ExecutableState&) = delete;
    ExecutableState& operator=(const ExecutableState&) = delete;
    ~ExecutableState() {
        for (const std::uint64_t object : noted) forget_kernel(object);
    }

    void load();
    void note(std::uint64_t object, const std::string& kernel_name);
    std::uint32_t kernel_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what,
                              const char* text) const;
    std::uint64_t kernel_object(const KernelMetadata& kernel) const;
    void check_agrees(const KernelMetadata& kernel, const char* what, std::uint32_t metadata,
                      std::uint32_t loaded) const;
};

void ExecutableState::load() {
    refuse_in_forked_child("Executable::load");
    hsa_code_object_reader_t native_reader{};
    check(hsa_code_object_reader_create_from_memory(bytes.data(), bytes.size(), &native_reader), [&] {
        return "hsa_code_object_reader_create_from_memory(" + name + ", " + std::to_string(bytes.size()) +
               " B)";
    });
    reader.reset(native_reader);

    hsa_executable_t native{};
    check(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr,
                                    &native),
          "hsa_executable_create_alt(full profile)");
    executable.reset(native);

    const hsa_status_t status =
        hsa_executable_load_agent_code_object(native, agent.native(), native_reader, nullptr, nullptr);
    const std::string call = "hsa_executable_load_agent_code_object(" + agent.label() + ", " + name +
                             ", code object V" + std::to_string(code.version) + ")";
    if (status != HSA_STATUS_SUCCESS && code.version >= 6) {
        throw InvalidCodeObject(call + ": " + status_name(status) +
                                    "; code object V6 needs the HSA runtime of ROCm 6.2 or newer, older ones "
                                    "load up to V5: rebuild "
                                    "with -mcode-object-version=5",
                                status);
    }
    if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_ERROR_OUT_OF_RESOURCES) {
        throw InvalidCodeObject(call + ": " + status_name(status), status);
    }
    check(status, call);
    check(hsa_executable_freeze(native, nullptr), [&] { return "hsa_executable_freeze(" + name + ")"; });
}

void ExecutableState::note(std::uint64_t object, const std::string& kernel_name) {
    const std::lock_guard lock(mutex);
    if (noted.insert(object).second) note_kernel(object, kernel_name);
}

std::uint32_t ExecutableState::kernel_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what,
                                           const char* text) const {
    std::uint32_t value = 0;
    check(hsa_executable_symbol_get_info(symbol, what, &value),
          [&] { return "hsa_executable_symbol_get_info(" + std::string(text) + ", " + name + ")"; });
    return value;
}

void ExecutableState::check_agrees(const KernelMetadata& kernel, const char* what, std::uint32_t metadata,
                                   std::uint32_t loaded) const {
    if (metadata == loaded) return;
    throw InvalidCodeObject("'" + name + "': kernel '" + kernel.name + "': " + what + " is " +
                            std::to_string(metadata) + " in the metadata, " + std::to_string(loaded) +
                            " as loaded");
}

std::uint64_t ExecutableState::kernel_object(const KernelMetadata& kernel) const {
    const hsa_agent_t native_agent = agent.native();
    hsa_executable_symbol_t symbol{};
    const hsa_status_t status =
        hsa_executable_get_symbol_by_name(executable.get(), kernel.symbol.c_str(), &native_agent, &symbol);
    if (status == HSA_STATUS_ERROR_INVALID_SYMBOL_NAME && !code.has_symbol_table) {
        throw InvalidCodeObject(
            "'" + name + "': kernel '" + kernel.name +
                "': this runtime finds kernels through .symtab, which was stripped: link without -s",
            status);
    }
    check(status, [&] { return "hsa_executable_get_symbol_by_name(" + kernel.symbol + ", " + name + ")"; });

    check_agrees(
        kernel, "the group segment size", kernel.group_segment_fixed_bytes,
        kernel_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, "GROUP_SEGMENT_SIZE"));
    check_agrees(
        kernel, "the private segment size", kernel.private_segment_fixed_bytes,
        kernel_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, "PRIVATE_SEGMENT_SIZE"));
    const std::uint32_t kernarg =
        kernel_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, "KERNARG_SEGMENT_SIZE");
    // 0 in the descriptor: the compiler did not say.
    if (kernarg) check_agrees(kernel, "the kernarg segment size", kernel.kernarg_size_bytes, kernarg);

    std::uint64_t object = 0;
    check(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object),
          [&] { return "hsa_executable_symbol_get_info(KERNEL_OBJECT, " + kernel.symbol + ")"; });
    return object;
}

}  // namespace detail

Executable Executable::load(AgentRef gpu, const std::filesystem::path& file) {
    return load(gpu, read_file(file), file.string());
}

Executable Executable::load(AgentRef gpu, std::span<const std::byte> bytes, std::string name) {
    auto state = std::make_shared<detail::ExecutableState>();
    const std::vector<TargetId> targets = targets_of(gpu);
    naming(name, [&] {
        state->bytes = extract_code_object(bytes, targets);
        state->code = read_code_object(state->bytes);
        if (const auto why = mismatch(state->code.target, targets)) throw InvalidCodeObject(*why);
    });
    state->agent = gpu;
    state->name = std::move(name);
    state->limits = LaunchLimits::of(gpu);
    state->load();
    return Executable(std::move(state));
}

Kernel Executable::kernel(std::string_view name) const {
    const CodeObject& code = state_->code;
    const KernelMetadata* metadata = code.find(name);
    if (!metadata) {
        throw InvalidArgument("'" + state_->name + "': no kernel '" + std::string(name) +
                              "'; there are: " + code.kernel_names());
    }
    if (const auto why = cannot_launch(*metadata, code))
        throw InvalidCodeObject("'" + state_->name + "': " + *why);
    const std::uint64_t object = state_->kernel_object(*metadata);
    state_->note(object, metadata->name);
    auto record = std::make_shared<detail::KernelRecord>(
        detail::KernelRecord{LaunchPlan(*metadata, state_->limits), object, state_->agent, state_});
    return Kernel(std::move(record));
}

const CodeObject& Executable::code_object() const noexcept { return state_->code; }
AgentRef Executable::agent() const noexcept { return state_->agent; }

}  // namespace hsadrv
