// libkfdemu-lines.so: source lines of code objects, through elfutils' libdw. Separate, so that programs under the
// emulator do not load libdw unless a finding needs it.
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace {

struct Place {
    const char* file = nullptr;
    int line = 0;
};

struct CloseElf {
    void operator()(Elf* elf) const { elf_end(elf); }
};
struct CloseDwarf {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
struct Free {
    void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};
using Scopes = std::unique_ptr<Dwarf_Die, Free>;

bool place_of(Dwarf_Die& unit, std::uint64_t address, Place& place) {
    Dwarf_Line* line = dwarf_getsrc_die(&unit, address);
    if (line == nullptr || dwarf_lineno(line, &place.line) != 0) return false;
    place.file = dwarf_linesrc(line, nullptr, nullptr);
    return place.file != nullptr;
}

/// The unit that holds the address. Each is asked: clang writes no .debug_aranges.
bool unit_of(Dwarf* dwarf, std::uint64_t address, Dwarf_Die& unit) {
    Dwarf_CU* at = nullptr;
    while (dwarf_get_units(dwarf, at, &at, nullptr, nullptr, &unit, nullptr) == 0)
        if (dwarf_haspc(&unit, address) > 0) return true;
    return false;
}

/// Where an inlined function was called.
bool call_of(Dwarf_Die& unit, Dwarf_Die& inlined, Place& place) {
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0 || file >= count)
        return false;
    place.file = dwarf_filesrc(files, file, nullptr, nullptr);
    place.line = static_cast<int>(line);
    return place.file != nullptr;
}

const char* name_of(Dwarf_Die& die) {
    const char* name = dwarf_diename(&die);
    return name == nullptr ? "" : name;
}

/// The innermost scope at the address, followed by those that enclose it in the code, not in the source.
int enclosing(Dwarf_Die& unit, std::uint64_t address, Scopes& out) {
    Dwarf_Die* scopes = nullptr;
    if (dwarf_getscopes(&unit, address, &scopes) <= 0) return 0;
    const Scopes innermost{scopes};
    Dwarf_Die* chain = nullptr;
    const int count = dwarf_getscopes_die(innermost.get(), &chain);
    out.reset(chain);
    return count;
}

}  // namespace

/// Calls frame() for each frame at `address`, innermost first. Returns how many; 0 without line information.
extern "C" [[gnu::visibility("default")]] int kfdemu_lines(const void* elf, std::size_t size, std::uint64_t address,
                                                           void (*frame)(void*, const char*, const char*, unsigned),
                                                           void* context) {
    elf_version(EV_CURRENT);
    const std::unique_ptr<Elf, CloseElf> file{
        elf_memory(static_cast<char*>(const_cast<void*>(elf)), size)};  // not written: opened for reading
    if (!file) return 0;
    const std::unique_ptr<Dwarf, CloseDwarf> dwarf{dwarf_begin_elf(file.get(), DWARF_C_READ, nullptr)};
    Dwarf_Die unit;
    Place place;
    if (!dwarf || !unit_of(dwarf.get(), address, unit) || !place_of(unit, address, place)) return 0;
    Scopes scopes;
    const int count = enclosing(unit, address, scopes);
    int frames = 0;
    for (int n = 0; n < count; ++n) {
        Dwarf_Die& scope = scopes.get()[n];
        const int tag = dwarf_tag(&scope);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
        frame(context, name_of(scope), place.file, static_cast<unsigned>(place.line));
        ++frames;
        if (tag == DW_TAG_subprogram || !call_of(unit, scope, place)) return frames;
    }
    if (frames == 0) frame(context, "", place.file, static_cast<unsigned>(place.line));
    return frames == 0 ? 1 : frames;
}
