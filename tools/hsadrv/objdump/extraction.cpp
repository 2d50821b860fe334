#include "tools/hsadrv/objdump/extraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/common/pending_file.hpp"
#include "tools/hsadrv/exit_status.hpp"

namespace hsadrv_tool::objdump {
namespace fs = std::filesystem;

namespace {

/// Replaces all but letters, digits and a few signs, because other characters are special to shells and make.
std::string plain(std::string text) {
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
               c == '.';
    };
    for (char& c : text)
        if (!is_plain(c)) c = '_';
    return text;
}

std::string stem_of(const Contents& contents) {
    const fs::path name = fs::path(contents.name).filename();
    const fs::path extension = name.extension();
    return extension == ".hsaco" || extension == ".o" || extension == ".so" ? name.stem().string() : name.string();
}

std::string name_of(const Contents& contents, const Entry& entry) {
    const auto target = entry.target();
    const std::string number = contents.bundles.size() > 1 ? fmt::format(".{}", entry.bundle.value_or(0) + 1) : "";
    return plain(fmt::format("{}{}.{}", stem_of(contents), number, target ? target->name() : entry.id));
}

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        throw tools::Failure(exit_status::files, fmt::format("--extract {}: {}", folder.string(), error.message()));
}

}  // namespace

void extract(Facts& facts, const fs::path& folder) {
    make_folder(folder);
    std::map<std::string, unsigned> taken;  // two entries of one bundle may be for one target: OpenMP's and HIP's
    for (FileFacts& file : facts.files) {
        for (EntryFacts& entry : file.entries) {
            const std::string name = name_of(file.contents, *entry.entry);
            const unsigned before = taken[name]++;
            const fs::path place = folder / (before ? fmt::format("{}.{}.hsaco", name, before + 1) : name + ".hsaco");
            tools::PendingFile output(place);
            output.write(entry.entry->bytes);
            output.commit();
            entry.written_to = place.string();
        }
    }
}

}  // namespace hsadrv_tool::objdump
