// hsadrv bench's reports: tables, CSV, JSON and drawings of given rows.
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tools/hsadrv/bench/chart.hpp"
#include "tools/hsadrv/bench/copy_direction.hpp"
#include "tools/hsadrv/bench/report_json.hpp"
#include "tools/hsadrv/bench/report_text.hpp"
#include "tools/hsadrv/bench/run.hpp"
#include "tools/hsadrv/bench/sizes.hpp"
#include "tools/hsadrv/bench/svg_plot.hpp"
#include "tools/hsadrv/bench/terminal_plot.hpp"

namespace hsadrv_bench {

using hsadrv_tool::Terminal;
using test_support::Contains;

namespace {

Row row_of(std::string name, std::uint64_t size, double ns) {
    Row row;
    row.group = size_text(size);
    row.name = std::move(name);
    row.size_bytes = size;
    row.work_per_sample = static_cast<double>(size);
    row.time_ns = {ns, ns / 2, 2 * ns, 21};
    return row;
}

/// Two curves of two sizes.
BenchReport copies() {
    BenchReport report;
    report.benchmark = "copy";
    report.device = "gpu0 gfx90a";
    report.runtime = "ROCR 1.5.0";
    report.baseline = memcpy_name;
    report.rows = {row_of(memcpy_name, 4096, 1024), row_of(memcpy_name, 1 << 20, 1 << 16),
                   row_of("pinned to device", 4096, 4096), row_of("pinned to device", 1 << 20, 1 << 17)};
    report.rows[2].engine = report.rows[3].engine = "1";
    return report;
}

BenchReport launches() {
    BenchReport report;
    report.benchmark = "launch";
    report.device = "gpu0 gfx90a";
    report.baseline = "raw AQL";
    for (const char* name : {"raw AQL", "graph replay"})
        for (const bool batch : {false, true}) {
            Row row;
            row.group = batch ? "batches" : "launch and wait";
            row.name = name;
            row.work = Work::launches;
            row.work_per_sample = batch ? 100 : 1;
            row.reading = batch ? Reading::rate : Reading::time;
            row.time_ns = {1e4, 9e3, 2e4, 21};
            report.rows.push_back(row);
        }
    report.rows[3].instructions = 152;
    return report;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
    return found;
}

}  // namespace

TEST_CASE("a row is compared with the baseline of its group", "[bench]") {
    const BenchReport report = copies();
    CHECK(!report.beside_baseline(report.rows[0]));
    CHECK(*report.beside_baseline(report.rows[2]) == Approx(0.25));
    CHECK(*report.beside_baseline(report.rows[3]) == Approx(0.5));
    const BenchReport times = launches();
    CHECK(*times.beside_baseline(times.rows[2]) == Approx(1));
}

TEST_CASE("figures have few digits and no exponent", "[bench]") {
    CHECK(figure(0.01234) == "0.012");
    CHECK(figure(12.345) == "12.35");
    CHECK(figure(123.45) == "123.5");
    CHECK(figure(1234567) == "1234567");
    CHECK(time_text(999) == "999.0 ns");
    CHECK(time_text(1500) == "1.500 us");
    CHECK(time_text(2.5e6) == "2.500 ms");
    CHECK(time_text(61e9) == "61.00 s");
}

TEST_CASE("the table omits empty columns, and names errors", "[bench]") {
    BenchReport report = copies();
    report.rows[3].mismatch = Mismatch{"the device's memory, byte 7 of 1048576", "0xa5", "0x01"};
    const std::string text = as_table(report, Terminal{});
    CHECK_THAT(text, Contains("copy on gpu0 gfx90a, ROCR 1.5.0\n"));
    CHECK_THAT(text, Contains("copy                      engine   size   GB/s     p5    p95  /memcpy      time   n\n"));
    CHECK_THAT(text, Contains("host to host (memcpy)             4 KiB  4.000  2.000  8.000           1.024 us  21\n"));
    CHECK_THAT(text, Contains("pinned to device          1       4 KiB  1.000  0.500  2.000   0.250x  4.096 us  21\n"));
    CHECK_THAT(text, Contains("WRONG: pinned to device, engine 1, 1 MiB: the device's memory, byte 7 of "
                              "1048576 is 0xa5 and should be 0x01\n"));
    CHECK(!report.all_right());

    const std::string side_by_side = as_table(launches(), Terminal{});
    CHECK_THAT(side_by_side,
               Contains("raw AQL                10.00  9.000  20.00            10000000  5000000  11111111"));
    CHECK_THAT(side_by_side, Contains("1.000x           152  21\n"));
}

TEST_CASE("notes are wrapped to the terminal", "[bench]") {
    BenchReport report = copies();
    report.notes = {std::string(300, 'x').replace(50, 1, " ").replace(100, 1, " ")};
    Terminal narrow;
    narrow.columns = 60;
    CHECK_THAT(as_table(report, narrow), Contains("\n" + std::string(50, 'x') + "\n" + std::string(49, 'x') + "\n"));
}

TEST_CASE("CSV has one line per row, and quotes fields if needed", "[bench]") {
    BenchReport report = copies();
    report.rows[2].name = "a, \"b\"";
    const std::string text = as_csv(report);
    CHECK(count(text, "\n") == 5);
    CHECK_THAT(text, Contains("copy,4 KiB,host to host "
                              "(memcpy),,4096,bytes,4096,1024.0,512.0,2048.0,4e+09,2e+09,8e+09,21,,,true\n"));
    CHECK_THAT(text, Contains(",\"a, \"\"b\"\"\",1,4096,"));
}

TEST_CASE("missing values are null in JSON", "[bench]") {
    const hsadrv_tool::Json json = as_json(copies());
    CHECK(json["schema"] == "hsadrv.bench");
    CHECK(json["peer"].is_null());
    CHECK(json["rows"].size() == 4);
    CHECK(json["rows"][0]["engine"].is_null());
    CHECK(json["rows"][2]["engine"] == "1");
    CHECK(json["rows"][2]["beside_baseline"] == 0.25);
    CHECK(json["rows"][2]["rate_per_second"]["median"] == 1e9);
    CHECK(json["rows"][2]["mismatch"].is_null());
}

TEST_CASE("a logarithmic axis has whole decades, and parts of them if it is short", "[bench]") {
    const LogAxis axis = LogAxis::around(1.3, 870);
    CHECK(axis.low == Approx(1));
    CHECK(axis.high == Approx(1000));
    CHECK(axis.place(10) == Approx(1.0 / 3));
    CHECK(axis.place(0.1) == 0);
    REQUIRE(axis.ticks().size() == 4);
    CHECK(axis.ticks()[3].label == "1000");
    const LogAxis one = LogAxis::around(20, 20);
    CHECK(one.low == Approx(10));
    CHECK(one.high == Approx(100));
    REQUIRE(one.ticks().size() == 4);
    CHECK(one.ticks()[1].label == "20");
    CHECK(LogAxis::around(0.002, 0.005).ticks().front().label == "0.001");
}

TEST_CASE("rows with sizes become curves, others bars in a chart for each unit", "[bench]") {
    const std::vector<Chart> curves = charts_of(copies());
    REQUIRE(curves.size() == 1);
    REQUIRE(curves[0].curves.size() == 2);
    CHECK(curves[0].curves[1].name == "pinned to device, engine 1");
    CHECK(curves[0].curves[1].points[0].y == Approx(1));
    CHECK(curves[0].curves[1].points[0].low == Approx(0.5));
    const std::vector<Chart> bars = charts_of(launches());
    REQUIRE(bars.size() == 2);
    CHECK(bars[0].y_label == "time (us)");
    CHECK(bars[1].bars.size() == 2);
    CHECK(bar_limit(bars[0]) == Approx(20));
}

TEST_CASE("a terminal without UTF-8 gets ASCII, one with it braille; neither is overrun", "[bench]") {
    for (const bool utf8 : {false, true})
        for (const unsigned columns : {40u, 80u, 300u})
            for (const BenchReport& report : {copies(), launches()})
                for (const Chart& chart : charts_of(report)) {
                    CAPTURE(utf8, columns, chart.y_label);
                    Terminal terminal;
                    terminal.utf8 = utf8, terminal.columns = columns;
                    const std::string text = terminal_plot(chart, terminal);
                    std::size_t width = 0;
                    bool ascii = true;
                    for (const char c : text) {
                        width = c == '\n' ? 0 : width + ((c & 0xc0) != 0x80);
                        ascii = ascii && c > 0;
                        if (text.find(c) > text.find('\n')) CHECK(width <= std::min(columns, 100u));
                    }
                    CHECK(ascii == !utf8);
                }
    Terminal terminal;
    const std::string text = terminal_plot(charts_of(copies()).front(), terminal);
    CHECK_THAT(text, Contains("a host to host (memcpy)\n"));
    CHECK_THAT(text, Contains("4 KiB"));
    CHECK_THAT(text, Contains("1 MiB"));
}

TEST_CASE("one point, one curve, one bar and none can be drawn", "[bench]") {
    BenchReport report;
    report.benchmark = "copy";
    CHECK(charts_of(report).empty());
    CHECK_THAT(svg_plot({}), Contains("</svg>"));
    report.rows = {row_of("x", 4096, 100)};
    for (const Chart& chart : charts_of(report)) CHECK_THAT(terminal_plot(chart, Terminal{}), Contains("a x"));
    CHECK_THAT(svg_plot(charts_of(report)), !Contains("nan"));
    report.rows[0].time_ns = {};
    for (const Chart& chart : charts_of(report)) CHECK(!terminal_plot(chart, Terminal{}).empty());
    CHECK_THAT(svg_plot(charts_of(report)), !Contains("nan"));
}

TEST_CASE("the SVG has a curve, a band and a legend for each name, and escapes it", "[bench]") {
    BenchReport report = copies();
    report.rows[2].name = report.rows[3].name = "pinned <-> device & back";
    const std::string svg = svg_plot(charts_of(report));
    CHECK(count(svg, "<polyline ") == 2);
    CHECK(count(svg, "<polygon ") == 2);
    CHECK(count(svg, "<circle ") == 4);
    CHECK_THAT(svg, Contains("pinned &lt;-&gt; device &amp; back"));
    CHECK_THAT(svg, Contains("size (bytes, powers of 1024)"));
    CHECK_THAT(svg, Contains("prefers-color-scheme: dark"));
    CHECK_THAT(svg, !Contains("<script"));
}

}  // namespace hsadrv_bench
