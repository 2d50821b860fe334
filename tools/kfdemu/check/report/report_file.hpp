// The file of --check-report: one JSON document, to which each process that has something to say adds an object.
//
//     if (auto error = begin_report(path); !error.empty()) …           // kfdemu run: a new one, without processes
//     error = add_to_report(path, process, "{\"process\": 12, …}");       // again at each finding: replaces its object
//
// The file is complete at any time: a new one is renamed to its name. Processes take turns, by a lock on the file.
// Thread safety: add_to_report(), one thread of a process at a time.
#pragma once

#include <string>

namespace kfdemu::check {

/// "" or an error text.
std::string begin_report(const std::string& path);
/// "" or an error text: whether add_to_report() could write it now. Creates nothing.
std::string try_report(const std::string& path);
/// `object` is one line, which begins with `prefix`, as no other process's does. "" or an error text.
std::string add_to_report(const std::string& path, const std::string& prefix, const std::string& object);

}  // namespace kfdemu::check
