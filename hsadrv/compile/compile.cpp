#include "hsadrv/compile.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/compile/cache_entry.hpp"
#include "hsadrv/compile/cache_folder.hpp"
#include "hsadrv/compile/cache_memory.hpp"
#include "hsadrv/compile/child.hpp"
#include "hsadrv/compile/clang.hpp"
#include "hsadrv/compile/compilation.hpp"
#include "hsadrv/compile/compile_key.hpp"
#include "hsadrv/compile/diagnostics.hpp"
#include "hsadrv/compile/header_folder.hpp"
#include "hsadrv/compile/llvm_places.hpp"
#include "hsadrv/compile/recipe.hpp"

namespace hsadrv {
namespace {

using detail::CacheEntry;
using detail::CacheFolder;
using detail::Clang;
using detail::Dependency;
using FileTime = std::filesystem::file_time_type;

[[noreturn]] void refuse(const CompileOptions& options, const std::string& why) {
    throw InvalidArgument("hsadrv::compile(" + options.name + ", " + std::string(to_string(options.language)) +
                          "): " + why);
}

void check_words(const CompileOptions& options) {
    const auto has_null = [](const std::string& word) { return word.find('\0') != word.npos; };
    for (const auto* words : {&options.defines, &options.folders, &options.clang_options}) {
        if (std::any_of(words->begin(), words->end(), has_null)) refuse(options, "an option has a null character");
        if (std::any_of(words->begin(), words->end(), [](const auto& word) { return word.empty(); }))
            refuse(options, "an option is empty");
    }
    if (options.name.empty() || options.name.find_first_of(std::string_view("\n\r\0", 3)) != options.name.npos)
        refuse(options, "the source's name is empty or has more than one line");
    for (const std::string& word : options.clang_options) {
        if (word.starts_with('@')) refuse(options, word + " in clang_options: give the options in that file");
        if (detail::instead_of(word))
            refuse(options, word + " in clang_options: hsadrv::compile sets target, language and output");
    }
}

void check(const CompileOptions& options) {
    check_words(options);
    static constexpr std::string_view levels[] = {"0", "1", "2", "3", "s", "z"};
    if (std::find(std::begin(levels), std::end(levels), options.level) == std::end(levels))
        refuse(options, "level \"" + options.level + "\": the optimisation levels are 0, 1, 2, 3, s and z");
    if (options.code_object_version < 4 || options.code_object_version > 6)
        refuse(options, "code_object_version " + std::to_string(options.code_object_version) + ": 4, 5 or 6");
    const bool preprocessed = options.language == Language::cpp || options.language == Language::opencl;
    if (!preprocessed && !options.defines.empty()) {
        refuse(options, "define " + options.defines.front() + ": there is no preprocessor" +
                            (options.language == Language::assembly ? "; use the option -Wa,-defsym,NAME=VALUE" : ""));
    }
    if (!options.target) {
        refuse(options,
               "no target: set CompileOptions::target, or give the GPU with hsadrv::compile(gpu, source, options)");
    }
}

/// The clang that a search has found for a target is kept: the search runs five programs. A file that has changed since
/// is searched for again.
class FoundClangs {
  public:
    Clang find(const CompileOptions& options, const Deadline& deadline) {
        const Question question{options.clang, options.target->processor, detail::variable("HSADRV_CLANG"),
                                detail::variable("PATH"), detail::variable("ROCM_PATH")};
        {
            const std::lock_guard lock(mutex_);
            const auto known = answers_.find(question);
            if (known != answers_.end() && known->second.stamp == stamp_of(known->second.clang))
                return known->second.clang;
        }
        const auto ask = [&](const std::vector<std::string>& command) { return run(command, deadline); };
        const Clang clang = detail::find_clang(
            {.clang = options.clang, .option = "CompileOptions::clang", .targets = {&*options.target, 1}}, ask,
            [](const auto&) {});
        const std::lock_guard lock(mutex_);
        answers_.insert_or_assign(question, Known{clang, stamp_of(clang)});
        return clang;
    }

  private:
    using Question = std::tuple<std::string, std::string, std::string, std::string, std::string>;
    struct Known {
        Clang clang;
        std::string stamp;
    };

    static std::string stamp_of(const Clang& clang) {
        const auto by = Dependency::By::stamp;
        return detail::fingerprint(by, clang.path).value_or("") + detail::fingerprint(by, clang.linker).value_or("");
    }

    static detail::Answer run(const std::vector<std::string>& command, const Deadline& deadline) {
        const detail::MemoryFile errors("compiler messages");
        try {
            detail::Ended ended = detail::run_child(command, {.errors = &errors}, deadline);
            return {ended.status.value_or(0), std::move(ended.output) + errors.content()};
        } catch (const Timeout&) {
            throw;
        } catch (const Error& error) {
            return {126, error.what()};
        }
    }

    std::mutex mutex_;
    std::map<Question, Known> answers_;
};

FoundClangs& found_clangs() {
    static FoundClangs& clangs = *new FoundClangs;  // never destroyed: other threads may compile while the process ends
    return clangs;
}

Compiled taken_from(const CacheEntry& entry, Compiled::From from) {
    return {entry.code_object, detail::diagnostics_in(entry.printed), entry.printed, entry.clang, from};
}

/// Empty if a file cannot be read, or was changed since `begin`: then it is not known what the compiler has read.
std::vector<Dependency> dependencies_of(const std::vector<std::string>& files, const Clang& clang, FileTime begin) {
    constexpr std::chrono::milliseconds clock_step{10};  // of the file system's clock
    std::vector<Dependency> all;
    const auto add = [&](Dependency::By by, const std::string& path) {
        std::error_code error;
        const auto changed = std::filesystem::last_write_time(path, error);
        auto print = detail::fingerprint(by, path);
        if (error || !print || changed > begin - clock_step) return false;
        all.push_back({by, path, *std::move(print)});
        return true;
    };
    bool known = add(Dependency::By::stamp, clang.path) && add(Dependency::By::stamp, clang.linker);
    for (const std::string& file : files) known = known && add(Dependency::By::content, file);
    if (!known) all.clear();
    return all;
}

/// One call.
class Call {
  public:
    Call(std::string_view source, const CompileOptions& options, const Deadline& deadline)
        : source_(source),
          options_(options),
          deadline_(deadline),
          headers_(headers()),
          caches_(options.cache && detail::is_reproducible(source, options.language)) {}

    Compiled make() {
        if (!caches_) return compiled();
        key_ = detail::key_of(source_, options_, *options_.target, headers_);
        if (const auto entry = detail::compile_memory().load(key_); entry && detail::is_current(*entry))
            return taken_from(*entry, Compiled::From::memory);
        const CacheFolder folder(detail::cache_place());
        if (auto entry = folder.load(key_); entry && detail::is_current(*entry)) {
            const auto kept = std::make_shared<const CacheEntry>(*std::move(entry));
            detail::compile_memory().store(kept);
            return taken_from(*kept, Compiled::From::disk);
        }
        Compiled made = compiled();
        if (const auto entry = entry_of(made)) {
            detail::compile_memory().store(entry);
            folder.store(*entry);
        }
        return made;
    }

  private:
    static const std::string& headers() {
        static const std::string folder = detail::header_folder(detail::folder_of_this_library());
        return folder;
    }

    Compiled compiled() {
        clang_ = found_clangs().find(options_, deadline_);
        begin_ = FileTime::clock::now();
        detail::Output made = detail::Compilation(source_, options_, *options_.target, clang_, headers_).run(deadline_);
        files_ = std::move(made.files);
        return {std::move(made.code_object), detail::diagnostics_in(made.printed), std::move(made.printed),
                clang_.path + " " + clang_.version, Compiled::From::compiler};
    }

    std::shared_ptr<const CacheEntry> entry_of(const Compiled& made) const {
        std::vector<std::string> files = files_;
        for (std::string& file : detail::files_in(options_.clang_options)) files.push_back(std::move(file));
        std::vector<Dependency> dependencies = dependencies_of(files, clang_, begin_);
        if (dependencies.empty()) return nullptr;
        return std::make_shared<const CacheEntry>(
            CacheEntry{key_, std::move(dependencies), made.printed, made.clang, made.code_object});
    }

    std::string_view source_;
    const CompileOptions& options_;
    const Deadline& deadline_;
    const std::string& headers_;
    bool caches_;
    std::string key_;
    Clang clang_;
    FileTime begin_;
    std::vector<std::string> files_;  ///< that the compiler read
};

}  // namespace

Compiled compile(std::string_view source, const CompileOptions& options, Deadline deadline) {
    check(options);
    const auto text = [&] {
        return options.name + ", " + std::string(to_string(options.language)) + ", " + options.target->name();
    };
    return detail::call_log::logged(detail::call_log::Area::code, "hsadrv::compile", text,
                                    [&] { return Call(source, options, deadline).make(); });
}

Compiled compile(AgentRef gpu, std::string_view source, const CompileOptions& options, Deadline deadline) {
    if (options.target) return compile(source, options, deadline);
    CompileOptions for_gpu = options;
    const std::vector<Isa> isas = gpu.isas();
    if (isas.empty()) refuse(options, gpu.label() + " runs no code objects: give a GPU");
    for_gpu.target = TargetId::parse(isas.front().name);
    return compile(source, for_gpu, deadline);
}

}  // namespace hsadrv
