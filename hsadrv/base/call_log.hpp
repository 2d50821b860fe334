// Internal: writes the library's public calls to a file if $HSADRV_LOG says so.
//
//   return logged(Area::memory, "Allocation::from_pool", [&] { return text(size_bytes); }, [&] { … });
//
//   hsadrv 0.001834 4711 memory Allocation::from_pool(4096 B, gpu0 gfx90a coarse-grained) = 0x7f5d2a000000, 0.061 ms
//
// A line is written when the call ends: seconds since the first line, thread, area, call, result or exception,
// duration. Calls that a logged call makes itself are not written. Off: one relaxed load, and neither text nor clock.
// Thread safety: any thread; a line is one write(). Memory ordering: relaxed, because the areas guard no other data:
// the file is read after is_on(), which locks until it is open.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "hsadrv/base/text.hpp"

namespace hsadrv::detail::call_log {

enum class Area : std::uint8_t { driver, memory, signal, queue, stream, launch, code };

/// What $HSADRV_LOG asks for.
struct Setting {
    std::uint32_t areas = 0;  ///< a bit for each Area
    std::string file;         ///< empty: standard error
};
/// "all", "stream,launch", "file=/tmp/log", "memory,file=/tmp/log". Throws InvalidArgument with the words there are.
Setting parse(std::string_view text);

/// 0: off. Until the environment is read: all bits.
extern std::atomic<std::uint32_t> areas;
bool is_on(Area area) noexcept;
inline bool on(Area area) noexcept { return areas.load(std::memory_order_relaxed) != 0 && is_on(area); }

/// A call that is being logged, if no other one of this thread is.
class Call {
  public:
    Call(Area area, const char* name) noexcept;
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    bool outermost() const noexcept { return outermost_; }
    void set_arguments(std::string text) noexcept { arguments_ = std::move(text); }
    void end(const std::string& result) const noexcept;
    void fail(const std::exception* error) const noexcept;

  private:
    void write(const std::string& outcome) const;

    Area area_;
    const char* name_;
    bool outermost_;
    std::string arguments_;
    std::chrono::steady_clock::time_point begin_;
};

/// A result as text; empty for types without one.
template <class T>
std::string result_text(const T& value) {
    if constexpr (std::is_same_v<T, bool>)
        return value ? "true" : "false";
    else if constexpr (std::is_integral_v<T>)
        return std::to_string(value);
    else if constexpr (std::is_pointer_v<T>)
        return hex(value);
    else if constexpr (requires { hex(static_cast<const void*>(value.data())); })
        return hex(static_cast<const void*>(value.data()));
    else if constexpr (requires { hex(value.native().handle); })
        return hex(value.native().handle);
    else if constexpr (requires { value.has_value(); })
        return value.has_value() ? result_text(*value) : "none";
    else
        return {};
}

template <class Arguments, class Body>
[[gnu::noinline]] auto write_call(Area area, const char* name, Arguments& arguments, Body& body) {
    Call call(area, name);
    try {
        if (call.outermost()) call.set_arguments(arguments());
        if constexpr (std::is_void_v<decltype(body())>) {
            body();
            call.end({});
        } else {
            auto result = body();
            if (call.outermost()) call.end(result_text(result));
            return result;
        }
    } catch (const std::exception& error) {
        call.fail(&error);
        throw;
    } catch (...) {
        call.fail(nullptr);
        throw;
    }
}

/// Returns body(), and writes the call if that is asked for. `arguments()`: the text between the parentheses.
template <class Arguments, class Body>
[[gnu::always_inline]] inline auto logged(Area area, const char* name, Arguments&& arguments, Body&& body) {
    if (!on(area)) [[likely]]
        return body();
    return write_call(area, name, arguments, body);
}

}  // namespace hsadrv::detail::call_log
