#include "tests/kfdemu/random/unit.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "tests/kfdemu/random/device.hpp"
#include "tests/kfdemu/random/random.hpp"

namespace random_programs {
namespace {

constexpr unsigned kOuts = 64;      // kernels/program.hpp: kOuts
constexpr unsigned kCellWords = 8;  // kCell
constexpr unsigned kSums = 36;      // sizeof(Sums) / 8

std::string read_text(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::string hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

/// Which of a program's variables a word of its results is.
std::string variable(const Program& program, std::size_t word) {
    if (word >= kOuts - 32) return fmt::format("few[{}]", (word - (kOuts - 32)) / 2);
    const std::size_t n = word / 2;
    if (n >= program.variables.size()) return fmt::format("out[{}]", word);
    return fmt::format("v{} ({}{})", n, name(program.variables[n].type), word % 2 ? ", upper half" : "");
}

std::optional<std::string> compared(const Program& program, const Results& expected, const Results& got) {
    for (std::size_t n = 0; n < expected.outs.size(); ++n)
        if (expected.outs[n] != got.outs[n])
            return fmt::format("work-item {} (group {}, {} of {}), {}: expected {}, got {}", n / kOuts,
                               n / kOuts / program.group, n / kOuts % program.group, program.group,
                               variable(program, n % kOuts), hex(expected.outs[n]), hex(got.outs[n]));
    for (std::size_t n = 0; n < expected.cells.size(); ++n)
        if (expected.cells[n] != got.cells[n])
            return fmt::format("work-item {}, bytes {} of its memory: expected {}, got {}", n / kCellWords,
                               n % kCellWords * 8, hex(expected.cells[n]), hex(got.cells[n]));
    for (std::size_t n = 0; n < expected.sums.size(); ++n)
        if (expected.sums[n] != got.sums[n])
            return fmt::format("sums of all, byte {}: expected {}, got {}", n * 8, hex(expected.sums[n]),
                               hex(got.sums[n]));
    return std::nullopt;
}

}  // namespace

std::vector<std::uint32_t> inputs(std::uint64_t seed) {
    Random random{seed ^ 0x5eed'0f'1257};
    std::vector<std::uint32_t> words(1024);
    for (std::size_t n = 0; n < words.size(); n += 2) {
        const std::uint64_t value = edge_or_noise(random);
        const bool narrow = random.one_in(2);
        words[n] = static_cast<std::uint32_t>(narrow ? value : value >> 32);  // as wide() reads them
        words[n + 1] = static_cast<std::uint32_t>(narrow ? edge_or_noise(random) : value);
    }
    return words;
}

Results initial(const Program& program) {
    Results r;
    const std::size_t items = program.group * Unit::kGroups;
    r.outs.assign(items * kOuts, 0xcccc'cccc'cccc'cccc);
    Random random{program.seed + program.number};
    for (std::size_t n = 0; n < items * kCellWords; ++n) r.cells.push_back(edge_or_noise(random));
    r.sums.assign(kSums, 0);
    for (unsigned n = 4; n < 6; ++n) r.sums[n] = ~std::uint64_t{0};   // Sums::all
    for (unsigned n = 8; n < 10; ++n) r.sums[n] = ~std::uint64_t{0};  // Sums::least
    return r;
}

Unit::Unit(std::string path, std::vector<Program> programs, const std::string& host_clang,
           std::vector<std::string> macros)
    : path_{std::move(path)}, host_clang_{host_clang}, macros_{std::move(macros)}, programs_{std::move(programs)} {
    source_ = path_ + ".cpp";
    std::ofstream file{source_};
    file << "#include \"program.hpp\"\n\n";
    for (std::size_t n = 0; n < programs_.size(); ++n) file << programs_[n].text(static_cast<unsigned>(n)) << "\n";
    file.close();
    if (!file) throw std::runtime_error{"cannot write " + source_};
    if (!programs_.empty()) inputs_ = inputs(programs_.front().seed);
    expected_ = run_on_host("O0");
}

Unit::~Unit() {
    for (const char* end : {".cpp", ".so", ".so.log", ".hsaco", ".hsaco.log"}) unlink((path_ + end).c_str());
}

std::vector<Results> Unit::run_on_host(const std::string& level) const {
    const std::string library = path_ + ".so";
    if (!compile_host(source_, library, host_clang_, level, macros_))
        throw std::runtime_error{host_clang_ + " does not compile for the host:\n" + read_text(library + ".log")};
    void* const twin = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (twin == nullptr) throw std::runtime_error{dlerror()};
    std::vector<Results> results;
    for (std::size_t n = 0; n < programs_.size(); ++n) {
        using Kernel = void (*)(const std::uint32_t*, std::uint64_t*, std::uint64_t*, std::uint64_t*, std::uint32_t);
        const auto kernel = reinterpret_cast<Kernel>(dlsym(twin, ("k" + std::to_string(n)).c_str()));
        Results r = initial(programs_[n]);
        // The widest loads from cells are of 16 bytes, aligned.
        auto* const cells = static_cast<std::uint64_t*>(std::aligned_alloc(64, r.cells.size() * 8));
        std::memcpy(cells, r.cells.data(), r.cells.size() * 8);
        for (unsigned group = 0; group < kGroups; ++group)
            kernel(inputs_.data(), cells, r.sums.data(), r.outs.data(), group);
        std::memcpy(r.cells.data(), cells, r.cells.size() * 8);
        std::free(cells);
        results.push_back(std::move(r));
    }
    dlclose(twin);
    return results;
}

/// Host compilers have bugs, too: results that differ between two levels are ignored.
void Unit::doubt(std::vector<Difference>& differences) {
    if (differences.empty()) return;
    if (second_opinion_.empty()) second_opinion_ = run_on_host("O2");
    for (Difference& d : differences)
        d.undecided = compared(programs_[d.program], expected_[d.program], second_opinion_[d.program]).has_value();
}

std::vector<Difference> Unit::run(const Setting& setting) {
    const std::string code = path_ + ".hsaco";
    if (!compile_device(source_, code, setting)) {
        if (programs_.size() > 1) return one_by_one(setting);
        return {{0, setting.clang + " fails: " + read_text(code + ".log").substr(0, 400), true, false}};
    }
    std::vector<Difference> differences;
    Device device{setting.target, code, inputs_};
    for (std::size_t n = 0; n < programs_.size(); ++n) {
        Results got = initial(programs_[n]);
        std::optional<std::string> what = device.run("k" + std::to_string(n), programs_[n].group, kGroups, got);
        if (!what) what = compared(programs_[n], expected_[n], got);
        if (what) differences.push_back({n, *what, false, false});
    }
    doubt(differences);
    return differences;
}

/// For compilers that fail on some program: compiles the halves separately.
std::vector<Difference> Unit::one_by_one(const Setting& setting) {
    std::vector<Difference> differences;
    const auto middle = programs_.begin() + static_cast<std::ptrdiff_t>(programs_.size() / 2);
    std::size_t before = 0;
    for (const auto& half :
         {std::vector<Program>(programs_.begin(), middle), std::vector<Program>(middle, programs_.end())}) {
        Unit unit{path_ + "h", half, host_clang_, macros_};
        for (Difference d : unit.run(setting)) {
            d.program += before;
            differences.push_back(std::move(d));
        }
        before += half.size();
    }
    return differences;
}

}  // namespace random_programs
