// A trace as TraceWriter wrote it, back as events.
//
//     const Events events = read_trace(bytes);
//     if (!events.problem.empty()) …               // the rest could not be read; what is before it is there
//
// Files of several processes may be joined. Fields that TraceWriter does not write are skipped. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trace {

struct WorkEvent {
    std::uint64_t id = 0;
    std::string stage;  ///< "kernel", "copy"
    std::string name, queue;
    std::uint32_t pid = 0, gpu = 0;
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::array<std::uint32_t, 3> groups{}, workgroup{};
    std::map<std::string, std::uint64_t> numbers;  ///< "bytes", "lds_bytes", "enqueued_ns"
    std::string times;                             ///< why they are not the device's; empty: they are
};

struct CallEvent {
    std::string name;
    std::uint32_t pid = 0, tid = 0;
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::vector<std::uint64_t> submitted, waited_for;
};

struct InstantEvent {
    std::string name;
    std::uint64_t at_ns = 0;
    std::map<std::string, std::string> values;
};

struct CounterEvent {
    std::string name;
    std::uint64_t at_ns = 0;
    std::int64_t value = 0;
};

struct Events {
    std::map<std::uint32_t, std::string> processes;  ///< by pid: the command
    std::vector<WorkEvent> work;
    std::vector<CallEvent> calls;
    std::vector<InstantEvent> instants;
    std::vector<CounterEvent> counters;
    std::string problem;
};

Events read_trace(std::string_view bytes);

}  // namespace trace
