#include "build.hpp"

#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "depfile.hpp"
#include "failure.hpp"
#include "headers.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/file_bytes.hpp"
#include "tools/common/pending_file.hpp"
#include "tools/common/scratch_folder.hpp"

namespace hsadrv_cc {
namespace {

using tools::PendingFile;
using tools::ScratchFolder;

using hsadrv::TargetId;
using Bytes = std::vector<std::byte>;

class Build {
  public:
    Build(const Options& options, std::span<const TargetId> targets, const Clang& clang,
          const Interruptions& interruptions, const Log& log)
        : options_(options),
          targets_(targets),
          clang_(clang),
          interruptions_(interruptions),
          log_(log),
          recipe_{options, clang, header_folder()},
          bundles_(targets.size() > 1 || options.compress) {}

    Made make() {
        // First, so that a place where nothing can be written is known before anything is compiled.
        PendingFile output(options_.output);
        std::unique_ptr<PendingFile> depfile;
        if (!options_.depfile.empty()) depfile = std::make_unique<PendingFile>(options_.depfile);
        const std::string bundler =
            bundles_ ? tool_beside(clang_, "clang-offload-bundler", interruptions_) : "";

        std::vector<std::string> files;
        for (const TargetId& target : targets_) files.push_back(compile(target));
        Made made = read_back(files);
        std::string result = files.front();
        if (bundles_) {
            result = scratch_ / "bundle";
            require(bundle_command(bundler, options_.compress, targets_, files, result));
        }
        const Bytes bytes = hsadrv::read_file(result);
        made.size_bytes = bytes.size();
        output.write(bytes);
        if (depfile) {
            const std::string rule = merge_depfiles(depfiles_);
            depfile->write(std::as_bytes(std::span(rule)));
            depfile->commit();
        }
        output.commit();
        return made;
    }

  private:
    void require(const Command& command) {
        log_(tools::shell_words(command));
        const int status = run(command, interruptions_);
        if (status == 127 || status == 126)
            throw Failure(ExitStatus::no_clang, fmt::format("{} cannot be run any more", command.front()));
        if (status != 0) throw Failure(status, "");  // it has said why
    }

    std::string fresh(const char* ending) { return scratch_ / fmt::format("{}{}", count_++, ending); }

    void compile_source(const TargetId& target, const std::string& source, Product product,
                        const std::string& file) {
        const std::string depfile = options_.depfile.empty() ? "" : fresh(".d");
        require(compile_command(recipe_, target, source, product, file, depfile));
        if (depfile.empty()) return;
        const Bytes text = hsadrv::read_file(depfile);
        depfiles_.emplace_back(reinterpret_cast<const char*>(text.data()), text.size());
    }

    /// The file with this target's code object, or assembly.
    std::string compile(const TargetId& target) {
        const std::string result = fresh(".hsaco");
        if (options_.sources.size() == 1) {
            compile_source(target, options_.sources.front(),
                           options_.assembly ? Product::assembly : Product::code, result);
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
            } catch (const hsadrv::InvalidCodeObject& error) {
                throw Failure(ExitStatus::files,
                              fmt::format("what {} made for {} is not what hsadrv loads: {}", clang_.path,
                                          targets_[i].name(), error.what()));
            }
        }
        return made;
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
    std::vector<std::string> depfiles_;
};

}  // namespace

Made build(const Options& options, std::span<const TargetId> targets, const Clang& clang,
           const Interruptions& interruptions, const Log& log) {
    return Build(options, targets, clang, interruptions, log).make();
}

}  // namespace hsadrv_cc
