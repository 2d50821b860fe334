// ProtoReader: the fields of a message in Protocol Buffers' wire format, one after the other.
//
//     for (ProtoReader reader{bytes}; auto field = reader.next();)
//         if (field->number == field::packet) decode(field->bytes);
//     if (reader.broken()) …                     // it ended in the middle of a field
//
// Borrows: the bytes. Pure. Thread safety: none. Source: Protocol Buffers, "Encoding".
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "tools/trace/format/proto_writer.hpp"

namespace trace {

struct ProtoField {
    Field field = 0;
    std::uint64_t number = 0;  ///< of a varint or a fixed number
    std::string_view bytes;    ///< of a text or a message
};

class ProtoReader {
  public:
    explicit ProtoReader(std::string_view bytes) : rest_{bytes} {}

    /// Null: the end.
    std::optional<ProtoField> next() {
        if (rest_.empty() || broken_) return std::nullopt;
        ProtoField field;
        std::uint64_t tag = 0;
        if (!varint(tag)) return std::nullopt;
        field.field = static_cast<Field>(tag >> 3);
        switch (tag & 7) {
            case 0:
                if (!varint(field.number)) return std::nullopt;
                return field;
            case 1:
                return fixed(field, 8);
            case 5:
                return fixed(field, 4);
            case 2: {
                std::uint64_t length = 0;
                if (!varint(length) || length > rest_.size()) break;
                field.bytes = rest_.substr(0, length);
                rest_.remove_prefix(length);
                return field;
            }
            default:
                break;
        }
        broken_ = true;
        return std::nullopt;
    }
    bool broken() const { return broken_; }

  private:
    bool varint(std::uint64_t& value) {
        for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) return true;
        }
        broken_ = true;
        return false;
    }
    std::optional<ProtoField> fixed(ProtoField field, std::size_t bytes) {
        if (rest_.size() < bytes) {
            broken_ = true;
            return std::nullopt;
        }
        std::memcpy(&field.number, rest_.data(), bytes);
        rest_.remove_prefix(bytes);
        return field;
    }

    std::string_view rest_;
    bool broken_ = false;
};

}  // namespace trace
