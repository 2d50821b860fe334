// The numbers of Perfetto's fields that traces have, by message; and its enumerations.
//
// Source: protos/perfetto/trace of google/perfetto, version 56.
#pragma once

#include "tools/trace/format/proto_writer.hpp"

namespace trace::perfetto {

namespace file {
inline constexpr Field packet = 1;
}

namespace packet {
inline constexpr Field clock_snapshot = 6, timestamp = 8, sequence = 10, track_event = 11, interned_data = 12,
                       sequence_flags = 13, first_on_sequence = 87, gpu_render_stage_event = 53, track_descriptor = 60;
/// No field of Perfetto's: readers skip it.
inline constexpr Field padding = 9000;
inline constexpr std::uint64_t state_cleared = 1, needs_state = 2;  // of sequence_flags
}  // namespace packet

namespace interned {
inline constexpr Field event_names = 2, annotation_names = 3, graphics_contexts = 23, gpu_specifications = 24,
                       compute_kernels = 1000, compute_argument_names = 1001;
inline constexpr Field iid = 1, name = 2;  // of most entries
}  // namespace interned
namespace context_of {
inline constexpr Field pid = 2;
}
namespace specification_of {
inline constexpr Field category = 4;
inline constexpr std::uint64_t other = 0, compute = 2;
}  // namespace specification_of
namespace kernel_of {
inline constexpr Field arch = 4;
}

namespace event {
inline constexpr Field categories = 22, name_iid = 10, type = 9, track_uuid = 11, counter_value = 30, annotations = 4,
                       gpu_correlation = 3000;
inline constexpr std::uint64_t begin = 1, end = 2, instant = 3, counter = 4;
}  // namespace event
namespace correlation {
inline constexpr Field submitted = 1, waited_for = 2;
}

namespace annotation {
inline constexpr Field name_iid = 1, boolean = 2, unsigned_number = 3, signed_number = 4, real = 5, text = 6,
                       pointer = 7;
}

namespace track {
inline constexpr Field uuid = 1, name = 2, process = 3, thread = 4, parent_uuid = 5, counter = 8;
}
namespace process_of {
inline constexpr Field pid = 1, command = 2, name = 6;
}
namespace thread_of {
inline constexpr Field pid = 1, tid = 2, name = 5;
}
namespace counter_of {
inline constexpr Field unit = 3;
inline constexpr std::uint64_t bytes = 3;
}  // namespace counter_of

namespace stage {
inline constexpr Field event_id = 1, duration = 2, context = 5, extra_data = 6, gpu = 11, queue_iid = 13,
                       stage_iid = 14, name_iid = 20, kernel_iid = 19, launch = 21;
}  // namespace stage
namespace extra_of {
inline constexpr Field name = 1, value = 2;
}
namespace dimension {
inline constexpr Field x = 1, y = 2, z = 3;
}
namespace launch_of {
inline constexpr Field grid = 1, workgroup = 2, arguments = 3;
}
namespace argument_of {
inline constexpr Field name_iid = 1, unsigned_number = 4;
}

namespace clock {
inline constexpr Field clocks = 1, primary = 2, id = 1, timestamp = 2;
inline constexpr std::uint64_t realtime = 1, monotonic = 3, boottime = 6;
}  // namespace clock

}  // namespace trace::perfetto
