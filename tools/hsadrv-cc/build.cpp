#include "tools/hsadrv-cc/build.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "hsadrv/compile/advice.hpp"
#include "hsadrv/compile/header_folder.hpp"
#include "hsadrv/compile/recipe.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/file_bytes.hpp"
#include "tools/common/environment.hpp"
#include "tools/common/own_program.hpp"
#include "tools/common/pending_file.hpp"
#include "tools/common/scratch_folder.hpp"
#include "tools/hsadrv-cc/commands.hpp"
#include "tools/hsadrv-cc/depfile.hpp"
#include "tools/hsadrv-cc/failure.hpp"

namespace hsadrv_cc {
namespace {

using tools::PendingFile;
using tools::ScratchFolder;

using hsadrv::TargetId;
using Bytes = std::vector<std::byte>;

/// Reads to the end; throws Failure.
std::string read_standard_input() {
    std::string text;
    char part[65536];
    for (std::size_t got; (got = std::fread(part, 1, sizeof part, stdin)) > 0;) text.append(part, got);
    if (std::ferror(stdin)) throw Failure(ExitStatus::files, "cannot read standard input");
    return text;
}

void write_standard_output(std::span<const std::byte> bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() || std::fflush(stdout) != 0)
        throw Failure(ExitStatus::files, fmt::format("cannot write standard output: {}", std::strerror(errno)));
}

/// The check that clang would do on its standard error, which is redirected to a file here.
bool shows_colours() {
    const std::string terminal = tools::variable("TERM");
    return isatty(STDERR_FILENO) && !terminal.empty() && terminal != "dumb";
}

std::string text_of(const std::string& file) {
    const Bytes bytes = hsadrv::read_file(file);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Build {
  public:
    Build(const Options& options, std::span<const TargetId> targets, const Clang& clang,
          const Interruptions& interruptions, const Log& log)
        : options_(options),
          targets_(targets),
          clang_(clang),
          interruptions_(interruptions),
          log_(log),
          recipe_{options, clang, hsadrv::detail::header_folder(tools::own_program().parent_path()), shows_colours()},
          bundles_(makes_bundle(options, targets)) {}

    Made make() {
        // First, so that an unwritable output fails before anything is compiled.
        std::unique_ptr<PendingFile> output, depfile;
        if (!to_standard_output(options_))
            output = std::make_unique<PendingFile>(options_.output);
        else if (!options_.assembly && isatty(STDOUT_FILENO))
            throw Failure(ExitStatus::usage, "-o -: standard output is a terminal; redirect it to a file or a pipe");
        if (!options_.depfile.empty()) depfile = std::make_unique<PendingFile>(options_.depfile);

        if (from_standard_input(options_)) keep_standard_input();
        std::vector<std::string> files;
        for (const TargetId& target : targets_) files.push_back(compile(target));
        Made made = read_back(files);
        std::string result = files.front();
        if (bundles_) {
            result = scratch_ / "bundle";
            require(bundle_command(clang_.bundler, options_.compress, targets_, files, result));
        }
        const Bytes bytes = hsadrv::read_file(result);
        made.size_bytes = bytes.size();
        if (output)
            output->write(bytes);
        else
            write_standard_output(bytes);
        if (depfile) {
            const std::string rule = merge_depfiles(depfiles_);
            depfile->write(std::as_bytes(std::span(rule)));
            depfile->commit();
        }
        if (output) output->commit();
        return made;
    }

  private:
    void require(const Command& command) {
        log_(tools::shell_words(command));
        const tools::Captured done = run(command, interruptions_);
        if (done.status == 127 || done.status == 126)
            throw Failure(ExitStatus::no_clang, fmt::format("{} can no longer be run", command.front()));
        if (done.status == 0) return;
        // clang has printed the error; add advice for errors that it has no remedy for.
        throw Failure(done.status, hsadrv::detail::advice_on(done.text));
    }

    /// Several targets read it.
    void keep_standard_input() {
        standard_input_ = scratch_ / "stdin";
        const std::string text =
            hsadrv::detail::line_marker(language_of(options_, "-"), "<stdin>") + read_standard_input();
        PendingFile file(standard_input_);
        file.write(std::as_bytes(std::span(text)));
        file.commit();
    }

    std::string fresh(const char* ending) { return scratch_ / fmt::format("{}{}", count_++, ending); }

    void compile_source(const TargetId& target, const std::string& name, Product product, const std::string& file) {
        const Source source{name, name == "-" ? standard_input_ : name};
        const std::string depfile = options_.depfile.empty() ? "" : fresh(".d");
        require(compile_command(recipe_, target, source, product, file, depfile, types_of(target, source)));
        if (!depfile.empty()) depfiles_.push_back(text_of(depfile));
    }

    /// What it says is said again when the source is compiled.
    Command types_of(const TargetId& target, const Source& source) {
        if (language_of(options_, source.name) != hsadrv::Language::cpp) return {};
        const std::string file = fresh(".ii");
        const Command command = compile_command(recipe_, target, source, Product::preprocessed, file, "");
        if (capture(command, interruptions_).status != 0) return {};
        return hsadrv::detail::types_words(text_of(file), recipe_.headers);
    }

    /// Returns the file with this target's code object or assembly.
    std::string compile(const TargetId& target) {
        const std::string result = fresh(".hsaco");
        if (options_.sources.size() == 1) {
            compile_source(target, options_.sources.front(), options_.assembly ? Product::assembly : Product::code,
                           result);
            return result;
        }
        std::vector<std::string> bitcodes;
        for (const std::string& source : options_.sources) {
            bitcodes.push_back(fresh(".o"));
            compile_source(target, source, Product::bitcode, bitcodes.back());
        }
        require(link_command(recipe_, target, bitcodes, result));
        return result;
    }

    Made read_back(const std::vector<std::string>& files) const {
        Made made;
        made.output = options_.output;
        made.bundle = bundles_;
        made.compressed = options_.compress;
        made.clang = clang_.path;
        made.clang_version = clang_.version;
        if (options_.assembly) return made;
        for (std::size_t i = 0; i < files.size(); ++i) {
            const Bytes bytes = hsadrv::read_file(files[i]);
            try {
                made.objects.push_back({hsadrv::read_code_object(bytes), bytes.size()});
                require_target(made.objects.back().code.target, targets_[i]);
            } catch (const hsadrv::InvalidCodeObject& error) {
                throw Failure(ExitStatus::files, fmt::format("hsadrv cannot load what {} made for {}: {}", clang_.path,
                                                             targets_[i].name(), error.what()));
            }
        }
        return made;
    }

    /// An option after -- may have changed the target.
    void require_target(const TargetId& got, const TargetId& asked) const {
        if (got == asked) return;
        throw Failure(
            ExitStatus::files,
            fmt::format("the code object that {} made for {} is for {}: {}", clang_.path, asked.name(), got.name(),
                        options_.clang_options.empty() ? "is it a clang?" : "an option after -- changed the target"));
    }

    const Options& options_;
    std::span<const TargetId> targets_;
    const Clang& clang_;
    const Interruptions& interruptions_;
    const Log& log_;
    Recipe recipe_;
    bool bundles_;
    ScratchFolder scratch_;
    unsigned count_ = 0;
    std::string standard_input_;  ///< its contents, as a file
    std::vector<std::string> depfiles_;
};

}  // namespace

bool makes_bundle(const Options& options, std::span<const TargetId> targets) {
    return targets.size() > 1 || options.compress;
}

hsadrv::detail::Ask ask_with(const Interruptions& interruptions) {
    return [&interruptions](const Command& command) {
        tools::Captured said = capture(command, interruptions);
        return hsadrv::detail::Answer{said.status, std::move(said.text)};
    };
}

Made build(const Options& options, std::span<const TargetId> targets, const Clang& clang,
           const Interruptions& interruptions, const Log& log) {
    return Build(options, targets, clang, interruptions, log).make();
}

}  // namespace hsadrv_cc
