#include "hsadrv/profile.hpp"

#include <cstddef>
#include <cstdio>
#include <utility>

namespace hsadrv {

namespace {

std::string json_text(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        char escape[8];
        if (c == '"' || c == '\\')
            out += '\\', out += c;
        else if (static_cast<unsigned char>(c) < 0x20)
            std::snprintf(escape, sizeof escape, "\\u%04x", c), out += escape;
        else
            out += c;
    }
    return out + '"';
}

std::string microseconds(std::chrono::nanoseconds time) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f", static_cast<double>(time.count()) / 1e3);
    return text;
}

std::string event(const ProfileRecord& record, std::size_t row) {
    const bool kernel = record.kind == ProfileRecord::Kind::kernel;
    return "{\"ph\":\"X\",\"pid\":1,\"tid\":" + std::to_string(row) + ",\"name\":" + json_text(record.name) +
           ",\"cat\":" + (kernel ? "\"kernel\"" : "\"copy\"") +
           ",\"ts\":" + microseconds(record.begin.time_since_epoch()) + ",\"dur\":" + microseconds(record.duration()) +
           ",\"args\":{" +
           (kernel
                ? "\"grid\":" + json_text(record.grid.text()) + ",\"workgroup\":" + json_text(record.workgroup.text())
                : "\"bytes\":" + std::to_string(record.bytes)) +
           "}}";
}

}  // namespace

const char* text_of(CopyDirection direction) noexcept {
    switch (direction) {
        case CopyDirection::host_to_host:
            return "host to host";
        case CopyDirection::host_to_device:
            return "host to device";
        case CopyDirection::device_to_host:
            return "device to host";
        case CopyDirection::device_to_device:
            return "device to device";
    }
    return "?";
}

std::string chrome_trace(std::span<const Profile> profiles) {
    std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    const char* separator = "\n";
    const auto add = [&](const std::string& line) { text += std::exchange(separator, ",\n") + line; };
    for (std::size_t row = 0; row < profiles.size(); ++row) {
        add("{\"ph\":\"M\",\"pid\":1,\"tid\":" + std::to_string(row) +
            ",\"name\":\"thread_name\",\"args\":{\"name\":" + json_text(profiles[row].stream) + "}}");
        for (const ProfileRecord& record : profiles[row].records)
            if (record.end_ticks != 0) add(event(record, row));
    }
    return text + "\n]}\n";
}

}  // namespace hsadrv
