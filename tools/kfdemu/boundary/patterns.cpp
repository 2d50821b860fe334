// Interposed glob(): libc matches patterns with calls of its own, which are not interposed, unless it is given others.
#undef _FILE_OFFSET_BITS  // glob and glob64 are both defined here

#include <dirent.h>
#include <glob.h>
#include <sys/stat.h>

#include "tools/kfdemu/boundary/libc.hpp"

namespace kfdemu {
namespace {

/// With the interposed calls, if the pattern may match emulated paths and the program has given no calls itself.
template <class Glob, class Entry, class Status>
int match(int (*next)(const char*, int, int (*)(const char*, int), Glob*), const char* pattern, int flags,
          int (*on_error)(const char*, int), Glob* found, Entry* (*read)(DIR*), int (*describe)(const char*, Status*),
          int (*describe_link)(const char*, Status*)) {
    if (!pattern || !found || (flags & GLOB_ALTDIRFUNC) || !sysfs::may_be_ours(pattern) || !Device::topology())
        return next(pattern, flags, on_error, found);
    found->gl_opendir = [](const char* path) -> void* { return opendir(path); };
    found->gl_closedir = [](void* folder) { closedir(static_cast<DIR*>(folder)); };
    found->gl_readdir = reinterpret_cast<decltype(found->gl_readdir)>(read);
    found->gl_stat = describe;
    found->gl_lstat = describe_link;
    const int result = next(pattern, flags | GLOB_ALTDIRFUNC, on_error, found);
    found->gl_flags &= ~GLOB_ALTDIRFUNC;
    return result;
}

}  // namespace
}  // namespace kfdemu

using namespace kfdemu;

EXPORT int glob(const char* pattern, int flags, int (*on_error)(const char*, int), glob_t* found) noexcept {
    return match(NEXT(glob), pattern, flags, on_error, found, readdir, stat, lstat);
}

EXPORT int glob64(const char* pattern, int flags, int (*on_error)(const char*, int), glob64_t* found) noexcept {
    return match(NEXT(glob64), pattern, flags, on_error, found, readdir64, stat64, lstat64);
}
