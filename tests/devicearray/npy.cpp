// .npy files: written as NumPy 1.24 writes them, and read; corrupt files are refused.
#include "devicearray/npy.hpp"

#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "devicearray/dtype_numpy.hpp"
#include "hsadrv/error.hpp"
#include "tests/devicearray/naive_array.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using test_support::Contains;

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
}

/// A header as NumPy writes it, its padding given as a number.
std::string file_text(const std::string& prefix, const std::string& text, std::size_t spaces, const std::string& data) {
    return "\x93NUMPY" + prefix + text + std::string(spaces, ' ') + "\n" + data;
}

std::string version_1(std::size_t length) {
    return {'\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
}

/// A valid frame for any header text.
std::vector<std::byte> with_header(const std::string& text, const std::string& data = std::string(64, '\7')) {
    return bytes_of(file_text(version_1(text.size() + 1), text, 0, data));
}

struct Folder {
    std::filesystem::path path;
    Folder() {
        char name[] = "/tmp/npy-test-XXXXXX";
        REQUIRE(mkdtemp(name));
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
};

std::size_t files_in(const std::filesystem::path& path) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
}

const std::uint16_t numbers[] = {0, 1, 2, 3, 4, 5};
const DType pair = DType::record({{"x", dtypes::int16}, {"v", DType::subarray(dtypes::int16, {2})}});
const DType aligned16 = DType::record({{"a", dtypes::int8}, {"b", dtypes::int16}}, {.aligned = true});

}  // namespace

TEST_CASE("files are those of NumPy, byte for byte", "[npy]") {
    struct Row {
        DType dtype;
        Layout layout;
        std::string file;
    };
    const auto dictionary = [](const char* descr, const char* order, const char* shape) {
        return std::string("{'descr': ") + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
    };
    const std::string data(reinterpret_cast<const char*>(numbers), 12);
    const auto row = [&](DType dtype, Layout layout, const std::string& text, std::size_t bytes) {
        return Row{dtype, layout, file_text(version_1(118), text, 117 - text.size(), data.substr(0, bytes))};
    };
    const Row rows[] = {
        row(dtypes::int16, Layout::contiguous({2, 3}, 2), dictionary("'<i2'", "False", "(2, 3)"), 12),
        row(dtypes::int16, Layout::contiguous({2, 3}, 2, Order::F), dictionary("'<i2'", "True", "(2, 3)"), 12),
        row(dtypes::uint32, Layout::contiguous({}, 4), dictionary("'<u4'", "False", "()"), 4),
        row(dtypes::boolean, Layout::contiguous({0, 3}, 1), dictionary("'|b1'", "False", "(0, 3)"), 0),
        row(dtypes::uint8, Layout::contiguous({3}, 1), dictionary("'|u1'", "False", "(3,)"), 3),
        row(pair, Layout::contiguous({2}, 6), dictionary("[('x', '<i2'), ('v', '<i2', (2,))]", "False", "(2,)"), 12),
        row(aligned16, Layout::contiguous({1}, 4),
            dictionary("[('a', '|i1'), ('', '|V1'), ('b', '<i2')]", "False", "(1,)"), 4),
        row(DType::record({{"\u00e9", dtypes::int16}}), Layout::contiguous({1}, 2),
            dictionary("[('\xe9', '<i2')]", "False", "(1,)"), 2),
    };
    for (const Row& row : rows) {
        CAPTURE(row.dtype.name(), row.layout.to_string());
        CHECK(write_npy({numbers, row.dtype, row.layout}) == bytes_of(row.file));
        const NpyArray read(bytes_of(row.file));
        CHECK(read.dtype() == row.dtype);
        CHECK(read.layout() == row.layout);
        CHECK(read.version() == 1);
        CHECK(std::memcmp(read.view().data, numbers, static_cast<std::size_t>(row.layout.size_bytes())) == 0);
    }
}

TEST_CASE("names beyond Latin-1 need version 3, long headers version 2", "[npy]") {
    const std::string wide = npy_header(DType::record({{"\u65e5", dtypes::int16}}), {1});
    CHECK(wide.substr(6, 4) == std::string("\3\0t\0", 4));  // NumPy's
    CHECK(wide.size() == 128);
    CHECK(read_npy_header(bytes_of(wide)).dtype.field("\u65e5").offset == 0);

    std::vector<FieldSpec> fields;
    for (int i = 0; i < 4000; ++i) {
        const std::string number = std::to_string(i);
        fields.push_back({"field_" + std::string(4 - number.size(), '0') + number, dtypes::int16});
    }
    const DType many = DType::record(fields);
    const std::string big = npy_header(many, {1});
    CHECK(big.substr(6, 6) == std::string("\2\0\xb4g\1\0", 6));  // NumPy's
    CHECK(big.size() == 100096 - 8000);
    CHECK(read_npy_header(bytes_of(big)).dtype == many);
    CHECK_THROWS_WITH(npy_header(many, {1}, Order::C, 1), Contains("version 2 can"));
}

TEST_CASE("every version can be requested, and is read", "[npy]") {
    for (int version = 1; version <= 3; ++version) {
        const Layout layout = Layout::contiguous({3, 2}, 2, Order::F);
        const std::vector<std::byte> file = write_npy({numbers, dtypes::uint16, layout}, version);
        const NpyArray read(file);
        CHECK(read.version() == version);
        CHECK(read.layout() == layout);
        CHECK((file.size() - 12) % 64 == 0);
        CHECK(std::memcmp(read.view().data, numbers, sizeof numbers) == 0);
    }
    CHECK_THROWS_WITH(npy_header(dtypes::int8, {}, Order::C, 4), Contains("version 4"));
    CHECK_THROWS_WITH(npy_header(DType::record({{"\u65e5", dtypes::int8}}), {}, Order::C, 2), Contains("Latin-1"));
    CHECK_THROWS_WITH(npy_header(DType::record({{"\xff", dtypes::int8}}), {}), Contains("UTF-8"));
    CHECK_THROWS_WITH(npy_header(DType::subarray(dtypes::int8, {3}), {2}), Contains("(3,)"));
    CHECK_THROWS_AS(npy_header(dtypes::int8, {-1}), InvalidArgument);
    CHECK_THROWS_WITH(write_npy({numbers, dtypes::int8, Layout::contiguous({2}, 2)}), Contains("int8 have 1 B"));
}

TEST_CASE("arrays of any type and layout survive a round trip", "[npy]") {
    naive::Random random(11);
    for (int n = 0; n < 2000; ++n) {
        const DType& dtype = dtypes::all[random.between(0, std::size(dtypes::all) - 1)];
        const Layout layout = random.layout(random.shape(200), static_cast<std::int64_t>(dtype.itemsize()));
        const ByteRange range = layout.extent();
        std::vector<std::uint8_t> memory(static_cast<std::size_t>(range.size_bytes()) + 1);
        for (auto& byte : memory) byte = static_cast<std::uint8_t>(random.between(0, 255));
        const std::uint8_t* const first = memory.data() - range.begin;
        const NpyArray read(write_npy({first, dtype, layout}));
        const naive::Array from = naive::array(layout), to = naive::array(read.layout());
        bool same = read.layout().shape() == layout.shape() &&
                    read.dtype() == (dtype.is_extension() ? DType::raw(dtype.itemsize()) : dtype);
        const auto* const data = static_cast<const std::uint8_t*>(read.view().data);
        for (std::size_t i = 0; i < from.offsets.size() && same; ++i)
            same = std::memcmp(first + from.offsets[i], data + to.offsets[i], dtype.itemsize()) == 0;
        if (!same) FAIL(dtype.name() << " with " << layout.to_string());
    }
}

TEST_CASE("bytes after the array are ignored, and misaligned data is moved", "[npy]") {
    const std::string text = "{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}";
    for (std::size_t spaces = 0; spaces < 4; ++spaces) {
        const std::string file =
            file_text(version_1(text.size() + spaces + 1), text, spaces, std::string("\1\0\2\0more", 8));
        const NpyArray read(bytes_of(file));
        const auto address = reinterpret_cast<std::uintptr_t>(read.view().data);
        CHECK(address % 2 == 0);
        CHECK(static_cast<const std::uint16_t*>(read.view().data)[1] == 2);
        const std::vector<std::byte> bytes = bytes_of(file);
        CHECK(view_npy(bytes).data == bytes.data() + 10 + text.size() + spaces + 1);
    }
}

TEST_CASE("a file truncated at any byte is refused", "[npy]") {
    for (const int version : {1, 2, 3}) {
        const std::vector<std::byte> whole = write_npy({numbers, pair, Layout::contiguous({2}, 6)}, version);
        for (std::size_t size = 0; size < whole.size(); ++size) {
            CAPTURE(version, size);
            const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
            CHECK_THROWS_AS(NpyArray(part), InvalidArgument);
            CHECK_THROWS_WITH(view_npy(part, "'a.npy'"), Contains("npy 'a.npy'") && Contains("byte"));
        }
    }
}

TEST_CASE("a corrupt header is refused with the error and its position", "[npy]") {
    std::string many_axes = "{'descr': '<u2', 'fortran_order': False, 'shape': (1";
    for (int i = 1; i < 65; ++i) many_axes += ", 1";
    many_axes += ")}";
    const std::pair<const char*, const char*> rows[] = {
        {"", "missing"},
        {"{'descr': '<u2', 'fortran_order': False}", "'shape' is missing"},
        {"{'descr': '<u2', 'shape': (2,)}", "'fortran_order' is missing"},
        {"{'shape': (2,), 'fortran_order': False}", "'descr' is missing"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (2,), 'x': 1}", "'x'"},
        {"{'descr': '<u2', 'fortran_order': 0, 'shape': (2,)}", "0 at byte 34, but True or False"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': 2}", "not a tuple"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (2.0,)}", "not an integer"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (-2,)}", "negative"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (99999999999999999999,)}", "64 bits"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (4611686018427387904,)}", "63 bits"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "63 bits"},
        {many_axes.c_str(), "at most 64"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1000000000,)}", "2000000000 bytes from byte"},
        {"{'descr': '>u2', 'fortran_order': False, 'shape': (2,)}", "byte order"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", "Python objects"},
        {"{'descr': '|V0', 'fortran_order': False, 'shape': (2,)}", "empty"},
        {"{'descr': [], 'fortran_order': False, 'shape': (2,)}", "empty"},
        {"{'descr': ('<u2', (2,)), 'fortran_order': False, 'shape': (2,)}", "subarray"},
        {"[1, 2]", "dictionary is expected"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (2,)} + 1", "more text"},
    };
    for (const auto& [text, says] : rows) {
        CAPTURE(text);
        CHECK_THROWS_AS(view_npy(with_header(text)), InvalidArgument);
        CHECK_THROWS_WITH(view_npy(with_header(text), "'a.npy'"), Contains(says) && Contains("npy 'a.npy'"));
    }
    const std::string good = "{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}";
    CHECK_NOTHROW(view_npy(with_header(good)));
    auto file = with_header(good);
    for (const int version : {0, 4, 255}) {
        file[6] = static_cast<std::byte>(version);
        CHECK_THROWS_WITH(view_npy(file), Contains("version " + std::to_string(version) + ".0"));
    }
    file = with_header(good);
    file[7] = std::byte{1};
    CHECK_THROWS_WITH(view_npy(file), Contains("version 1.1"));
    file = with_header(good);
    file[0] = std::byte{'x'};
    CHECK_THROWS_WITH(view_npy(file), Contains("not a .npy file"));
    file = with_header(good);
    file[9] = std::byte{0xff};
    CHECK_THROWS_WITH(view_npy(file), Contains("byte 8: the header has 65"));
}

TEST_CASE("files are saved atomically and loaded again", "[npy]") {
    const Folder folder;
    const auto path = folder.path / "a.npy";
    const Layout layout = Layout::contiguous({2, 3}, 2);
    save_npy(path, {numbers, dtypes::uint16, layout});
    NpyArray read = load_npy(path);
    CHECK(read.layout() == layout);
    CHECK(std::memcmp(read.view().data, numbers, sizeof numbers) == 0);
    static_cast<std::uint16_t*>(read.view().data)[0] = 99;
    save_npy(path, std::as_const(read).view());
    CHECK(static_cast<const std::uint16_t*>(std::as_const(read).view().data)[0] == 99);
    CHECK(static_cast<std::uint16_t*>(load_npy(path).view().data)[0] == 99);
    CHECK(files_in(folder.path) == 1);

    CHECK_THROWS_AS(save_npy(path, {numbers, DType::subarray(dtypes::uint16, {3}), Layout::contiguous({2}, 6)}),
                    InvalidArgument);
    CHECK(load_npy(path).layout() == layout);  // unchanged
    CHECK(files_in(folder.path) == 1);
}

TEST_CASE("an unprintable field name is escaped in the header, as in NumPy", "[npy]") {
    const DType record = DType::record({{"a\u00a0\u200b", dtypes::int8}});
    const std::string header = npy_header(record, {1});
    CHECK(header[6] == '\1');  // all text is Latin-1
    CHECK(header.find(R"('descr': [('a\xa0\u200b', '|i1')])") != header.npos);
    CHECK(read_npy_header(bytes_of(header + std::string(1, '\0'))).dtype == record);
}

TEST_CASE("a file keeps its mode and its links when overwritten", "[npy]") {
    const Folder folder;
    const HostView array{numbers, dtypes::uint16, Layout::contiguous({6}, 2)};
    const auto path = folder.path / "a.npy", link = folder.path / "link.npy", dangling = folder.path / "new.npy";
    const auto mode_of = [](const std::filesystem::path& file) {
        struct stat status{};
        REQUIRE(::lstat(file.c_str(), &status) == 0);
        return status.st_mode;
    };
    for (const mode_t mode : {0600u, 0640u, 0666u, 0755u}) {
        save_npy(path, array);
        REQUIRE(::chmod(path.c_str(), mode) == 0);
        save_npy(path, array);
        CHECK((mode_of(path) & 07777) == mode);
    }
    std::filesystem::create_directory(folder.path / "deep");
    std::filesystem::create_symlink("../a.npy", folder.path / "deep" / "one.npy");
    std::filesystem::create_symlink("deep/one.npy", link);
    const HostView three{numbers, dtypes::uint16, Layout::contiguous({3}, 2)};
    save_npy(link, three);
    CHECK(S_ISLNK(mode_of(link)));
    CHECK(S_ISLNK(mode_of(folder.path / "deep" / "one.npy")));
    CHECK(load_npy(path).layout().size() == 3);
    CHECK((mode_of(path) & 07777) == 0755);

    std::filesystem::create_symlink("deep/made.npy", dangling);
    save_npy(dangling, array);
    CHECK(S_ISLNK(mode_of(dangling)));
    CHECK(S_ISREG(mode_of(folder.path / "deep" / "made.npy")));
    std::filesystem::create_symlink("circle.npy", folder.path / "circle.npy");
    CHECK_THROWS_WITH(save_npy(folder.path / "circle.npy", array), Contains("circle.npy"));
    CHECK(files_in(folder.path) == 5);
    CHECK(files_in(folder.path / "deep") == 2);
}

TEST_CASE("a path that is not a regular file is written to directly, as in NumPy", "[npy]") {
    const Folder folder;
    const auto pipe = folder.path / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::vector<std::byte> read;
    std::thread reader([&] {
        std::ifstream file(pipe, std::ios::binary);
        for (char c; file.get(c);) read.push_back(static_cast<std::byte>(c));
    });
    const HostView array{numbers, dtypes::uint16, Layout::contiguous({6}, 2)};
    save_npy(pipe, array);
    const bool is_pipe = std::filesystem::is_fifo(pipe);
    if (!is_pipe) std::ofstream(pipe).flush();
    CHECK(is_pipe);
    if (is_pipe) {
        reader.join();
        CHECK(read == write_npy(array));
    } else {
        reader.detach();
    }
}

TEST_CASE("a path that cannot be read or written is an error with its name", "[npy]") {
    const Folder folder;
    const HostView array{numbers, dtypes::uint16, Layout::contiguous({6}, 2)};
    CHECK_THROWS_WITH(load_npy(folder.path / "none.npy"), Contains("none.npy"));
    CHECK_THROWS_WITH(load_npy(folder.path), Contains("a directory"));
    CHECK_THROWS_WITH(save_npy(folder.path / "no" / "a.npy", array), Contains("a.npy") && Contains("created"));
    std::filesystem::create_directory(folder.path / "taken");
    CHECK_THROWS_WITH(save_npy(folder.path / "taken", array), Contains("taken") && Contains("rename"));
    CHECK(files_in(folder.path) == 1);
    std::ofstream(folder.path / "short.npy") << "\x93NUM";
    CHECK_THROWS_AS(load_npy(folder.path / "short.npy"), InvalidArgument);
    CHECK_THROWS_WITH(load_npy(folder.path / "short.npy"), Contains("short.npy") && Contains("byte 4"));
}
