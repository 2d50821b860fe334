#include "tools/hsadrv/doctor/file_tree.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <memory>

namespace hsadrv_tool::doctor {
namespace {

constexpr std::size_t most_bytes = 1u << 20;

}  // namespace

bool FileTree::exists(const std::string& path) const { return status(path).exists(); }

FileFacts FileTree::status(const std::string& path) const {
    FileFacts facts;
    facts.path = path;
    struct stat status{};
    if (stat((root_ + path).c_str(), &status) != 0) {
        facts.error = errno;
        return facts;
    }
    facts.character_device = S_ISCHR(status.st_mode);
    facts.mode = status.st_mode & 07777;
    facts.owner = status.st_uid;
    facts.group = status.st_gid;
    facts.major = major(status.st_rdev);
    facts.minor = minor(status.st_rdev);
    return facts;
}

std::pair<std::string, int> FileTree::text_or_error(const std::string& path) const {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen((root_ + path).c_str(), "re"), std::fclose);
    if (!file) return {"", errno};
    std::string text;
    char part[4096];
    errno = 0;
    for (std::size_t got; text.size() < most_bytes && (got = std::fread(part, 1, sizeof part, file.get())) > 0;)
        text.append(part, got);
    if (std::ferror(file.get())) return {"", errno ? errno : EIO};
    text.erase(text.find_last_not_of(" \n\t\r") + 1);
    return {text, 0};
}

std::optional<std::string> FileTree::text(const std::string& path) const {
    auto [text, error] = text_or_error(path);
    if (error != 0) return std::nullopt;
    return text;
}

std::vector<std::string> FileTree::lines(const std::string& path) const {
    const std::string all = text_or_error(path).first;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = std::min(all.find('\n', at), all.size());
        lines.push_back(all.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

std::vector<std::string> FileTree::names(const std::string& path) const {
    std::vector<std::string> names;
    DIR* const folder = opendir((root_ + path).c_str());
    if (!folder) return names;
    while (const dirent* entry = readdir(folder)) {
        const std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(name);
    }
    closedir(folder);
    std::sort(names.begin(), names.end());
    return names;
}

std::string FileTree::link_name(const std::string& path) const {
    char target[PATH_MAX];
    const ssize_t length = readlink((root_ + path).c_str(), target, sizeof target);
    if (length <= 0) return "";
    const std::string whole(target, static_cast<std::size_t>(length));
    return whole.substr(whole.rfind('/') + 1);
}

}  // namespace hsadrv_tool::doctor
