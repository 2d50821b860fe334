// ProtoWriter: appends fields of Protocol Buffers' wire format to bytes.
//
//     std::string bytes;
//     ProtoWriter packet{bytes};
//     packet.number(field::trace_packet::timestamp, now_ns);
//     packet.message(field::trace_packet::track_event, [&](ProtoWriter& event) { event.text(…); });
//
// The length of a nested message is written after its content, in four bytes, which the format allows. Pure.
// Thread safety: none. Source: Protocol Buffers, "Encoding".
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace trace {

/// A field's number in its message.
using Field = std::uint32_t;

class ProtoWriter {
  public:
    explicit ProtoWriter(std::string& bytes) : bytes_(&bytes) {}

    void number(Field field, std::uint64_t value) {
        tag(field, Wire::varint);
        varint(value);
    }
    void signed_number(Field field, std::int64_t value) { number(field, static_cast<std::uint64_t>(value)); }
    void fixed64(Field field, std::uint64_t value) {
        tag(field, Wire::fixed64);
        char raw[8];
        std::memcpy(raw, &value, sizeof raw);
        bytes_->append(raw, sizeof raw);
    }
    void real(Field field, double value) { fixed64(field, std::bit_cast<std::uint64_t>(value)); }
    void text(Field field, std::string_view value) {
        tag(field, Wire::bytes);
        varint(value.size());
        bytes_->append(value);
    }
    template <class Fill>
    void message(Field field, Fill&& fill) {
        tag(field, Wire::bytes);
        const std::size_t begin = bytes_->size();
        bytes_->append(4, '\0');
        fill(*this);
        put_length(begin, bytes_->size() - begin - 4);
    }

    static constexpr std::size_t most_in_message = (1u << 28) - 1;

  private:
    enum class Wire : std::uint32_t { varint = 0, fixed64 = 1, bytes = 2 };

    void tag(Field field, Wire wire) { varint(std::uint64_t{field} << 3 | static_cast<std::uint32_t>(wire)); }
    void varint(std::uint64_t value) {
        char raw[10];
        std::size_t length = 0;
        for (; value >= 0x80; value >>= 7) raw[length++] = static_cast<char>(value | 0x80);
        raw[length++] = static_cast<char>(value);
        bytes_->append(raw, length);
    }
    void put_length(std::size_t at, std::size_t length) {
        for (unsigned n = 0; n < 4; ++n)
            (*bytes_)[at + n] = static_cast<char>((length >> (7 * n) & 0x7f) | (n < 3 ? 0x80 : 0));
    }

    std::string* bytes_;
};

}  // namespace trace
