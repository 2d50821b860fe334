#include "tools/common/xml.hpp"

namespace tools {

std::string xml_text(std::string_view text) {
    std::string result;
    for (const char letter : text) switch (letter) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
        }
    return result;
}

}  // namespace tools
