#include <fmt/format.h>

#include "tools/hsadrv/conformance/report.hpp"

namespace hsadrv_tool {
namespace {

/// The length of the well-formed UTF-8 character at this position, if XML 1.0 allows it; otherwise 0.
std::size_t allowed_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return first >= 0x20 || first == '\n' || first == '\t' ? 1 : 0;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    if (length == 0 || length > text.size()) return 0;
    unsigned code = first & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
        code = code << 6 | (byte(i) & 0x3fu);
    }
    static constexpr unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool wrong = code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || code == 0xfffe ||
                       code == 0xffff;
    return wrong ? 0 : length;
}

std::string xml_escaped(std::string_view text) {
    std::string xml;
    while (!text.empty()) {
        const std::size_t length = allowed_bytes(text);
        const char c = text[0];
        if (length == 0)
            xml += "\xef\xbf\xbd";  // U+FFFD
        else if (c == '&')
            xml += "&amp;";
        else if (c == '<')
            xml += "&lt;";
        else if (c == '>')
            xml += "&gt;";
        else if (c == '"')
            xml += "&quot;";
        else if (c == '\n')
            xml += "&#10;";
        else
            xml += text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return xml;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string counts_xml(const Counts& counts) {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"", counts.all(),
                       counts.failed, counts.crashed + counts.timed_out, counts.skipped + counts.not_run,
                       counts.seconds);
}

std::string verdict_xml(const TestResult& test) {
    const char* element = test.outcome == Outcome::failed ? "failure" : "error";
    switch (test.outcome) {
        case Outcome::passed:
            return "";
        case Outcome::skipped:
            return fmt::format("      <skipped message=\"{}\"/>\n", xml_escaped(test.message));
        case Outcome::not_run:
            return fmt::format("      <skipped message=\"not run: {}\"/>\n", xml_escaped(test.message));
        default:
            break;
    }
    return fmt::format("      <{} type=\"{}\" message=\"{}\">{}</{}>\n", element, to_string(test.outcome),
                       xml_escaped(first_line(test.message)), xml_escaped(test.message), element);
}

std::string test_xml(const TestResult& test) {
    std::string inside = verdict_xml(test);
    if (!test.output.empty()) inside += fmt::format("      <system-out>{}</system-out>\n", xml_escaped(test.output));
    const std::string head = fmt::format(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"{}", xml_escaped(test.area), xml_escaped(test.name),
        test.seconds, test.file.empty() ? "" : fmt::format(" file=\"tests/{}\"", xml_escaped(test.file)));
    return head + (inside.empty() ? "/>\n" : ">\n" + inside + "    </testcase>\n");
}

std::string property_xml(const char* name, const std::string& value) {
    return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, xml_escaped(value));
}

std::string properties_xml(const TestReport& report) {
    std::string xml =
        property_xml("hsadrv", HSADRV_VERSION_TEXT) + property_xml("verdict", std::string(verdict(report)));
    if (const auto& device = report.device)
        xml += property_xml("gpu", device->name) + property_xml("product", device->product) +
               property_xml("uuid", device->uuid) + property_xml("runtime", device->runtime);
    return "    <properties>\n" + xml + "    </properties>\n";
}

}  // namespace

std::string as_junit(const TestReport& report) {
    Counts all = count(report);
    all.seconds = report.seconds;
    std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    xml += fmt::format("<testsuites name=\"hsadrv test\" {}>\n", counts_xml(all));
    for (const char* area : areas) {
        const Counts counts = count(report, area);
        if (counts.all() == 0) continue;
        xml += fmt::format("  <testsuite name=\"{}\" {} timestamp=\"{}\">\n", area, counts_xml(counts),
                           xml_escaped(report.started));
        xml += properties_xml(report);
        for (const TestResult& test : report.tests)
            if (test.area == area) xml += test_xml(test);
        xml += "  </testsuite>\n";
    }
    return xml + "</testsuites>\n";
}

}  // namespace hsadrv_tool
