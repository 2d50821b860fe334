// A wrapped call of the runtime: calls what was in the table, and writes it as a slice of its thread, with its
// arguments.
//
//     Wrapper<Tag, hsa_status_t(hsa_queue_t*)>::call          // goes into the table; Tag::next is called
//
// before(Tag, session, arguments...) and after(Tag, session, end, result, arguments...) are what else is done, by
// overloads for a Tag. Arguments that point to a result, such as void** or hsa_signal_t*, are shown as what the call
// put there. Thread safety: any thread.
#pragma once

#include <array>
#include <type_traits>

#include "tools/trace/record/session.hpp"

namespace trace {

/// What a call has found out about the GPU's work.
struct CallEnd {
    std::vector<std::uint64_t> submitted, waited_for;
};

template <class T>
concept Handle = requires(T value) { value.handle; } && sizeof(T) == sizeof(std::uint64_t);

template <class T>
Annotation::Value value_of(T value) {
    if constexpr (std::is_same_v<T, bool>)
        return value;
    else if constexpr (std::is_enum_v<T>)
        return static_cast<std::uint64_t>(value);
    else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
        return static_cast<std::int64_t>(value);
    else if constexpr (std::is_integral_v<T>)
        return static_cast<std::uint64_t>(value);
    else if constexpr (Handle<T>)
        return Pointer{value.handle};
    else if constexpr (std::is_pointer_v<T>)
        return Pointer{reinterpret_cast<std::uint64_t>(value)};
    else
        return std::string_view{"a structure"};
}

template <class T>
inline constexpr bool is_result = false;
template <class T>
    requires(!std::is_const_v<T>) && (Handle<T> || std::is_pointer_v<T>)
inline constexpr bool is_result<T*> = true;

/// Lists of handles are arguments.
constexpr bool is_list(std::string_view name) { return name == "agents" || name == "signals" || name == "consumers"; }

template <class T>
Annotation::Value shown(std::string_view name, T value, bool succeeded) {
    if constexpr (is_result<T>) {
        if (succeeded && value != nullptr && !is_list(name)) return value_of(*value);
    }
    return value_of(value);
}

template <class Tag, class Function>
struct Wrapper;

template <class Tag, class R, class... A>
struct Wrapper<Tag, R(A...)> {
    static R call(A... arguments) {
        Session* const session = Session::active();
        if (session == nullptr || Recorder::active() == nullptr) return Tag::next(arguments...);
        const std::uint64_t begin_ns = now_ns();
        guarded([&] { before(Tag{}, *session, arguments...); });
        const R result = Tag::next(arguments...);
        guarded([&] {
            CallEnd end;
            after(Tag{}, *session, end, result, arguments...);
            write(begin_ns, end, result, arguments...);
        });
        return result;
    }

  private:
    template <class T>
    static Annotation argument(const char* name, T value, bool succeeded) {
        return {name, shown(name, value, succeeded)};
    }
    static void write(std::uint64_t begin_ns, const CallEnd& end, R result, A... arguments) {
        const bool is_status = std::is_same_v<R, hsa_status_t>;
        [[maybe_unused]] const bool succeeded = !is_status || static_cast<std::uint64_t>(result) == HSA_STATUS_SUCCESS;
        std::size_t n = 0;
        const std::array<Annotation, sizeof...(A) + 1> annotations = {
            argument(Tag::arguments[n++], arguments, succeeded)...,
            Annotation{is_status ? "status" : "result", value_of(result)}};
        const Slice slice{Tag::name, begin_ns, now_ns(), annotations, end.submitted, end.waited_for};
        if (Recorder* const recorder = Recorder::active()) recorder->slice(slice);
    }
};

}  // namespace trace
