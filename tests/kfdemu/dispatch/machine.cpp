#include "tests/kfdemu/dispatch/machine.hpp"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "tools/kfdemu/base/model.hpp"
#include "tools/kfdemu/check/process.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

namespace dispatch_test {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

std::vector<std::byte> read_file(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) throw std::runtime_error{"cannot open " + path};
    std::vector<char> chars{std::istreambuf_iterator<char>{file}, {}};
    std::vector<std::byte> bytes(chars.size());
    std::memcpy(bytes.data(), chars.data(), chars.size());
    return bytes;
}

template <class T>
T read(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// Addresses that the code object holds, made absolute.
void relocate(std::byte* image, const Elf64_Dyn* dynamic) {
    std::uint64_t rela = 0, size = 0, symbols = 0;
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
        if (dynamic->d_tag == DT_RELA) rela = dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_SYMTAB) symbols = dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_RELASZ) size = dynamic->d_un.d_val;
    }
    constexpr std::uint32_t kAbs64 = 3, kRelative64 = 13;  // R_AMDGPU_ABS64, R_AMDGPU_RELATIVE64
    for (std::uint64_t at = 0; at < size; at += sizeof(Elf64_Rela)) {
        const auto r = read<Elf64_Rela>(image + rela + at);
        std::uint64_t value = reinterpret_cast<std::uint64_t>(image) + static_cast<std::uint64_t>(r.r_addend);
        if (ELF64_R_TYPE(r.r_info) == kAbs64)
            value += read<Elf64_Sym>(image + symbols + ELF64_R_SYM(r.r_info) * sizeof(Elf64_Sym)).st_value;
        else if (ELF64_R_TYPE(r.r_info) != kRelative64)
            throw std::runtime_error{"unknown relocation in a test kernel"};
        std::memcpy(image + r.r_offset, &value, sizeof value);
    }
}

const char* const kTargets[] = {KFDEMU_TEST_TARGETS};

/// KFDEMU_TEST_JIT=never, hot or always, the default: when code is translated. What is checked is interpreted.
kfdemu::jit::When translation() {
    const char* const text = std::getenv("KFDEMU_TEST_JIT");
    const bool checked = std::getenv("KFDEMU_TEST_CHECK") != nullptr;
    const std::string_view when = text != nullptr ? text : checked ? "never" : "always";
    if (when == "never") return kfdemu::jit::When::never;
    if (when == "hot") return kfdemu::jit::When::hot;
    if (when != "always") throw std::runtime_error{"KFDEMU_TEST_JIT is never, hot or always"};
    return kfdemu::jit::When::always;
}

void sum_up() {
    const auto& process = kfdemu::check::process_checks();
    std::fputs(process.report.summary(process.checks()).c_str(), stderr);
    std::fflush(nullptr);
    if (process.report.distinct() != 0) _exit(kfdemu::check::kFoundStatus);
}

/// KFDEMU_TEST_CHECK=wait+memory: all kernels of the program run under these checks, and findings fail it.
kfdemu::check::Session session_of_environment() {
    static const bool checked = [] {
        const char* text = std::getenv("KFDEMU_TEST_CHECK");
        if (text == nullptr || *text == 0) return false;
        kfdemu::Checks checks;
        if (const std::string error = add(checks, text); !error.empty()) throw std::runtime_error{error};
        kfdemu::check::process_checks().enabled = checks.bits();
        std::atexit(sum_up);
        return true;
    }();
    return checked ? kfdemu::check::process_session() : kfdemu::check::Session{};
}

}  // namespace

std::vector<Target> targets() {
    std::vector<Target> result;
    for (Target target : kfdemu::isa::kTargets)
        for (const char* built : kTargets)
            if (std::string{built} == kfdemu::isa::name(target)) result.push_back(target);
    return result;
}

Machine::Machine(Target target, std::uint32_t scratch_lane_bytes, std::uint32_t scratch_waves, kfdemu::isa::Level level)
    : code{target, translation(), level} {
    gpu.target = target;
    if (const kfdemu::Model* const model = kfdemu::find_model(kfdemu::isa::name(target))) {
        gpu.lds_bytes = model->lds_kib * 1024;
        gpu.lds_granule_bytes = model->lds_granule_bytes;
    }
    session = session_of_environment();
    // The queue's scratch, as a runtime describes it (amd_queue_t).
    const std::uint32_t wave_bytes = scratch_lane_bytes * 64;
    const auto base = reinterpret_cast<std::uint64_t>(allocate_bytes(std::size_t{wave_bytes} * scratch_waves));
    queue.queue_ptr = 0x1234'5678'9abc;
    queue.scratch_base = base;
    queue.scratch_lane_bytes = scratch_lane_bytes;
    queue.scratch = {scratch_waves, wave_bytes};
    // Swizzled; 4-byte elements, index stride 64, add the lane number. GFX10: as 32_UINT, checked for being empty.
    const std::uint32_t format =
        kfdemu::isa::traits_of(target).unified_formats ? 20u << 12 | 1u << 24 | 2u << 28 : 1u << 19 | 4u << 15;
    queue.scratch_descriptor = {static_cast<std::uint32_t>(base), static_cast<std::uint32_t>(base >> 32) | 1u << 31,
                                wave_bytes * scratch_waves, 1u << 23 | 3u << 21 | format | 0xfac};
    slots = std::make_shared<kfdemu::ScratchSlots>(scratch_waves);
}

Machine::~Machine() {
    for (const Mapping& m : mappings_) munmap(m.base, m.bytes);
}

unsigned Machine::lanes() const { return kfdemu::isa::traits_of(target()).wave32 ? 32 : 64; }

void* Machine::reserve(std::size_t bytes) {
    void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc{};
    mappings_.push_back({base, bytes});
    return base;
}

std::byte* Machine::allocate_bytes(std::size_t bytes, std::uint32_t access) {
    const std::size_t mapped = std::max(round_up(bytes, 16), std::size_t{16});
    const std::size_t whole = round_up(mapped, kPage) + kPage;
    auto* base = static_cast<std::byte*>(reserve(whole));
    std::byte* begin = base + (whole - kPage) - mapped;
    begin -= reinterpret_cast<std::uintptr_t>(begin) % 256;
    const auto va = reinterpret_cast<std::uint64_t>(begin);
    if (!space.map({va, va + mapped, begin, access, 1})) throw std::runtime_error{"cannot map memory"};
    return begin;
}

CodeObject Machine::load_built(const std::string& folder, const std::string& source, const std::string& level) {
    return load_file(folder + "/" + source + "." + kfdemu::isa::name(target()) + "." + level + ".hsaco");
}

CodeObject Machine::load_file(const std::string& path) {
    const std::vector<std::byte> file = read_file(path);
    const auto header = read<Elf64_Ehdr>(file.data());

    std::vector<Elf64_Phdr> segments(header.e_phnum);
    std::memcpy(segments.data(), file.data() + header.e_phoff, segments.size() * sizeof(Elf64_Phdr));
    std::uint64_t end = 0;
    for (const Elf64_Phdr& s : segments)
        if (s.p_type == PT_LOAD) end = std::max(end, s.p_vaddr + s.p_memsz);
    auto* image = static_cast<std::byte*>(reserve(round_up(end, kPage)));
    const Elf64_Dyn* dynamic = nullptr;
    for (const Elf64_Phdr& s : segments) {
        if (s.p_type == PT_LOAD) std::memcpy(image + s.p_vaddr, file.data() + s.p_offset, s.p_filesz);
        if (s.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const Elf64_Dyn*>(image + s.p_vaddr);
    }
    if (dynamic != nullptr) relocate(image, dynamic);
    const auto va = reinterpret_cast<std::uint64_t>(image);
    if (!space.map({va, va + round_up(end, kPage), image, kfdemu::kRead | kfdemu::kWrite | kfdemu::kExecute, 2}))
        throw std::runtime_error{"cannot map a code object"};

    CodeObject object;
    object.machine_ = this;
    for (const Elf64_Phdr& s : segments)
        if (s.p_type == PT_LOAD && (s.p_flags & PF_X) != 0)
            object.text_ = {reinterpret_cast<std::uint32_t*>(image + s.p_vaddr), s.p_memsz / 4};
    object.version_ = header.e_ident[EI_ABIVERSION] + 2u;  // ELFABIVERSION_AMDGPU_HSA_V4 is 2
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        const auto section = read<Elf64_Shdr>(file.data() + header.e_shoff + i * sizeof(Elf64_Shdr));
        if (section.sh_type != SHT_DYNSYM) continue;
        const auto strings = read<Elf64_Shdr>(file.data() + header.e_shoff + section.sh_link * sizeof(Elf64_Shdr));
        for (std::uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
            const auto symbol = read<Elf64_Sym>(file.data() + section.sh_offset + at);
            const auto* name = reinterpret_cast<const char*>(file.data() + strings.sh_offset + symbol.st_name);
            object.symbols_.emplace_back(name, va + symbol.st_value);
        }
    }
    return object;
}

std::uint64_t CodeObject::symbol(const std::string& name) const {
    for (const auto& [known, va] : symbols_)
        if (known == name) return va;
    throw std::runtime_error{"no symbol " + name};
}

kfdemu::KernelDispatchPacket CodeObject::packet(const std::string& kernel, const Shape& shape) const {
    kfdemu::KernelDispatchPacket p;
    p.header = 2;
    p.setup = static_cast<std::uint16_t>(shape.grid.size());
    for (unsigned d = 0; d < 3; ++d) {
        p.grid_size[d] = d < shape.grid.size() ? shape.grid[d] : 1;
        p.workgroup_size[d] = static_cast<std::uint16_t>(d < shape.group.size() ? shape.group[d] : 1);
    }
    p.kernel_object = symbol(kernel + ".kd");
    const auto* fixed = reinterpret_cast<const std::byte*>(p.kernel_object);
    p.group_segment_size = read<std::uint32_t>(fixed) + shape.lds_bytes;
    p.private_segment_size = std::max(read<std::uint32_t>(fixed + 4), shape.stack_bytes);
    return p;
}

void append_hidden_arguments(std::vector<std::byte>& kernarg, const kfdemu::KernelDispatchPacket& p, unsigned version) {
    struct Hidden {
        std::uint32_t block_count[3];
        std::uint16_t group_size[3], remainder[3];
        std::uint8_t reserved[16];
        std::uint64_t global_offset[3];
        std::uint16_t grid_dims;
    } hidden{};
    for (unsigned d = 0; d < 3; ++d) {
        hidden.block_count[d] = p.grid_size[d] / p.workgroup_size[d];
        hidden.group_size[d] = p.workgroup_size[d];
        hidden.remainder[d] = static_cast<std::uint16_t>(p.grid_size[d] % p.workgroup_size[d]);
    }
    hidden.grid_dims = p.setup;
    kernarg.resize(round_up(kernarg.size(), 8));
    const std::size_t at = kernarg.size();
    kernarg.resize(at + 256);
    if (version >= 5) std::memcpy(kernarg.data() + at, &hidden, sizeof hidden);
}

kfdemu::Dispatch::Setup Machine::setup(const kfdemu::KernelDispatchPacket& packet) {
    kfdemu::Dispatch::Setup s;
    s.packet = packet;
    s.packet_va = reinterpret_cast<std::uint64_t>(copy(std::vector<kfdemu::KernelDispatchPacket>{packet}));
    s.queue = queue;
    s.gpu = gpu;
    s.memory = &space;
    s.code = &code;
    s.scratch_slots = slots;
    s.session = session;
    s.counts = counts;
    return s;
}

std::shared_ptr<kfdemu::Dispatch> Machine::start(const kfdemu::KernelDispatchPacket& packet) {
    auto s = setup(packet);
    const kfdemu::AddressSpace::Hold hold{space};
    auto made = kfdemu::Dispatch::create(std::move(s));
    if (auto* refused = std::get_if<kfdemu::LaunchRefused>(&made))
        throw std::runtime_error{"refused: " + std::string{refused->why}};
    return std::get<std::shared_ptr<kfdemu::Dispatch>>(made);
}

Outcome Machine::run(const kfdemu::KernelDispatchPacket& packet, const Shape& shape) {
    return run_to_end(start(packet), shape.threads, shape.quantum, shape.limit_seconds);
}

Outcome run_to_end(const std::shared_ptr<kfdemu::Dispatch>& dispatch, unsigned threads, std::uint64_t quantum,
                   unsigned limit_seconds) {
    using kfdemu::WorkGroup;
    using Clock = std::chrono::steady_clock;
    const auto limit = Clock::now() + std::chrono::seconds{limit_seconds};
    const auto work = [&] {
        // As a worker does: a batch of groups under one Hold, reported together.
        WorkGroup group;
        group.report_later();
        kfdemu::AddressSpace::Hold hold{dispatch->memory()};
        kfdemu::Dispatch::Batch batch{*dispatch};
        for (;;) {
            const auto started = dispatch->start_group(group, batch);
            if (started == kfdemu::Dispatch::Start::NoMore) return;
            if (started == kfdemu::Dispatch::Start::Later) {
                std::this_thread::yield();
                hold.renew();
                continue;
            }
            WorkGroup::Progress progress;
            do {
                progress = group.run(quantum, hold);
                if (progress != WorkGroup::Progress::Ended) batch.give_back();
                if (limit_seconds != 0 && Clock::now() > limit) dispatch->abort();
            } while (progress == WorkGroup::Progress::Paused || progress == WorkGroup::Progress::Idle);
        }
    };
    std::vector<std::thread> helpers;
    for (unsigned t = 1; t < threads; ++t) helpers.emplace_back(work);
    work();
    for (std::thread& t : helpers) t.join();
    Outcome outcome;
    outcome.state = dispatch->state();
    if (outcome.state == kfdemu::Dispatch::State::Failed) outcome.fault = dispatch->fault();
    return outcome;
}

}  // namespace dispatch_test
