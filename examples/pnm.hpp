// Pictures in the portable anymap formats: PGM (P2, P5) and PPM (P3, P6), 8 or 16 bits a sample.
//
//     Picture picture = read_picture("in.ppm");
//     write_picture("out.ppm", picture);  // written as P5 or P6
//
// Throws std::runtime_error, naming the file, for other formats and truncated files. Source: the pgm(5) and ppm(5)
// pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

struct Picture {
    std::uint32_t width = 0, height = 0, channels = 0;  // 1 = grey, 3 = red, green, blue
    std::uint32_t max = 255;                            // the value of full brightness
    std::vector<std::uint16_t> samples;                 // rows from the top, channels interleaved
};

class PictureReader {
  public:
    explicit PictureReader(const std::string& path) : path_(path) {
        std::ifstream file(path, std::ios::binary);
        if (!file) fail("cannot be opened");
        try {
            bytes_.assign(std::istreambuf_iterator<char>(file), {});
        } catch (const std::ios_base::failure&) {
            fail("cannot be read");  // for example a directory
        }
    }

    Picture read() {
        const char kind = bytes_.size() > 2 && bytes_[0] == 'P' ? bytes_[1] : '\0';
        if (kind != '2' && kind != '3' && kind != '5' && kind != '6')
            fail("is not a PGM or PPM picture: it begins with none of P2, P3, P5, P6");
        at_ = 2;
        Picture picture;
        picture.channels = kind == '3' || kind == '6' ? 3 : 1;
        picture.width = number("width", 1u << 16);
        picture.height = number("height", 1u << 16);
        picture.max = number("maximum value", 65535);
        if (picture.width == 0 || picture.height == 0 || picture.max == 0) fail("has a width, height or maximum of 0");

        const std::size_t count = std::size_t{picture.width} * picture.height * picture.channels;
        if (count >> 31 != 0) fail("has 2^31 samples or more");
        const std::size_t sample_bytes = kind < '5'          ? 2
                                         : picture.max < 256 ? 1
                                                             : 2;  // text: a digit and a space at least
        ++at_;                                                     // one white space ends the header
        if (at_ > bytes_.size() || (bytes_.size() - at_) + 1 < count * sample_bytes) fail("is cut short");
        picture.samples.reserve(count);
        while (picture.samples.size() < count) picture.samples.push_back(kind < '5' ? text(picture) : binary(picture));
        return picture;
    }

  private:
    [[noreturn]] void fail(const std::string& why) const { throw std::runtime_error(path_ + " " + why); }

    std::uint16_t text(const Picture& picture) { return static_cast<std::uint16_t>(number("sample", picture.max)); }

    std::uint16_t binary(const Picture& picture) {
        std::uint32_t value = byte();
        if (picture.max > 255) value = value << 8 | byte();
        if (value > picture.max) fail("has a sample of " + std::to_string(value) + " above its maximum");
        return static_cast<std::uint16_t>(value);
    }

    std::uint32_t byte() {
        if (at_ >= bytes_.size()) fail("is cut short");
        return static_cast<unsigned char>(bytes_[at_++]);
    }

    /// A decimal number after white space and comments.
    std::uint32_t number(const char* what, std::uint32_t most) {
        for (bool comment = false; at_ < bytes_.size(); ++at_) {
            const char c = bytes_[at_];
            if (c == '#') comment = true;
            if (!comment && c != ' ' && (c < '\t' || c > '\r')) break;
            if (c == '\n' || c == '\r') comment = false;
        }
        std::uint32_t value = 0;
        const std::size_t start = at_;
        for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9' && value <= most; ++at_)
            value = value * 10 + static_cast<std::uint32_t>(bytes_[at_] - '0');
        if (at_ == start) fail(std::string("has no number for its ") + what);
        if (value > most) fail(std::string("has a ") + what + " above " + std::to_string(most));
        return value;
    }

    std::string path_;
    std::vector<char> bytes_;
    std::size_t at_ = 0;
};

inline Picture read_picture(const std::string& path) { return PictureReader(path).read(); }

inline void write_picture(const std::string& path, const Picture& picture) {
    std::ofstream file(path, std::ios::binary);
    file << (picture.channels == 3 ? "P6\n" : "P5\n") << picture.width << " " << picture.height << "\n"
         << picture.max << "\n";
    for (const std::uint16_t sample : picture.samples) {
        if (picture.max > 255) file.put(static_cast<char>(sample >> 8));
        file.put(static_cast<char>(sample));
    }
    file.close();
    if (!file) throw std::runtime_error(path + " cannot be written");
}
