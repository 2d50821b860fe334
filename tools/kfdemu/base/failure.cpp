#include "tools/kfdemu/base/failure.hpp"

#include <cerrno>
#include <utility>

#include "tools/kfdemu/base/parse_number.hpp"

namespace kfdemu {
namespace {

constexpr std::pair<std::string_view, Point> kPoints[] = {{"allocation", Point::allocation},
                                                          {"scratch", Point::scratch},
                                                          {"mmap", Point::mapping},
                                                          {"ioctl", Point::ioctl},
                                                          {"open", Point::open}};
constexpr std::pair<std::string_view, int> kErrors[] = {
    {"ENOMEM", ENOMEM}, {"EIO", EIO},       {"EINTR", EINTR},   {"EAGAIN", EAGAIN}, {"EINVAL", EINVAL},
    {"EFAULT", EFAULT}, {"EPERM", EPERM},   {"EACCES", EACCES}, {"EBUSY", EBUSY},   {"ENODEV", ENODEV},
    {"ENOSPC", ENOSPC}, {"EMFILE", EMFILE}, {"ENXIO", ENXIO},   {"ENOTTY", ENOTTY}, {"EBADF", EBADF},
    {"ENOENT", ENOENT}, {"ESRCH", ESRCH},   {"ETIME", ETIME}};

/// "ioctl/0x16": the name before the slash, the number after it.
bool parse_point(std::string_view text, Failure& failure) {
    const auto slash = text.find('/');
    for (const auto& [name, point] : kPoints) {
        if (text.substr(0, slash) != name) continue;
        failure.point = point;
        if (slash == text.npos) return true;
        std::string_view digits = text.substr(slash + 1);
        const bool hex = digits.substr(0, 2) == "0x";
        if (hex) digits.remove_prefix(2);
        return point == Point::ioctl && parse_number(digits, failure.number, hex ? 16 : 10) && failure.number != 0 &&
               failure.number < 256;
    }
    return false;
}

bool parse_error(std::string_view text, int& error) {
    for (const auto& [name, value] : kErrors)
        if (text == name) return error = value, true;
    return parse_number(text, error) && error > 0 && error < 4096;
}

}  // namespace

bool parse_turns(std::string_view text, Turns& turns) {
    const auto dash = text.find('-');
    if (!parse_number(text.substr(0, dash), turns.nth)) return false;
    turns.count = 1;
    if (dash == text.npos) return turns.valid();
    const std::string_view last = text.substr(dash + 1);
    std::uint64_t end = 0;
    if (last.empty()) {
        turns.count = Turns::kAll;
        return turns.valid();
    }
    if (!parse_number(last, end) || end < turns.nth) return false;
    turns.count = end - turns.nth + 1;
    return turns.valid();
}

std::variant<Failure, std::string> parse_failure(std::string_view text) {
    Failure failure{};
    const auto first = text.find(':'), second = text.find(':', first == text.npos ? first : first + 1);
    if (second == text.npos) return std::string{"expected POINT:WHICH:ERROR, such as allocation:3:ENOMEM"};
    if (!parse_point(text.substr(0, first), failure))
        return std::string{"POINT must be allocation, scratch, mmap, open, ioctl or ioctl/NUMBER"};
    if (!parse_turns(text.substr(first + 1, second - first - 1), failure.turns))
        return std::string{"WHICH must name calls, counted from 1: 3, 3-5, or 3- for the third and all after it"};
    if (!parse_error(text.substr(second + 1), failure.error))
        return std::string{"ERROR must be an errno name or number, such as ENOMEM or 12"};
    return failure;
}

std::string to_string(const Turns& turns) {
    const std::string first = std::to_string(turns.nth);
    if (turns.count == Turns::kAll) return first + "-";
    return turns.count > 1 ? first + "-" + std::to_string(turns.nth + turns.count - 1) : first;
}

std::string to_string(const Failure& failure) {
    std::string text;
    for (const auto& [name, point] : kPoints)
        if (point == failure.point) text = name;
    if (failure.number) text += "/" + std::to_string(failure.number);
    text += ":" + to_string(failure.turns);
    text += ":";
    for (const auto& [name, value] : kErrors)
        if (value == failure.error) return text + std::string{name};
    return text + std::to_string(failure.error);
}

bool Turns::next() {
    if (count == 0) return false;
    if (nth > 1) return --nth, false;
    if (count != kAll) --count;
    return true;
}

}  // namespace kfdemu
