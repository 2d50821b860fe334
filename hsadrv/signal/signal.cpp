#include "hsadrv/signal.hpp"

#include <algorithm>
#include <atomic>
#include <string>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/departure.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/signal/signal_value.hpp"
#include "hsadrv/signal/signal_wait.hpp"

namespace hsadrv {

namespace {

std::atomic_ref<std::int64_t> value_of(hsa_signal_t signal) noexcept {
    return std::atomic_ref(*detail::signal_value(signal));
}

using detail::call_log::Area;
using detail::call_log::logged;

std::string wait_text(SignalRef signal, Condition condition, std::int64_t than, Deadline deadline) {
    return "signal " + detail::hex(signal.native().handle) + ", value " + detail::condition_text(condition, than) +
           ", " + deadline.text();
}

std::string terms_text(std::span<const SignalTerm> terms, Deadline deadline) {
    return std::to_string(terms.size()) + " signals, " + deadline.text();
}

/// Lists the terms that do not hold, for the message of a wait that timed out.
std::string unmet(std::span<const SignalTerm> terms) {
    std::string text;
    std::size_t more = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const std::int64_t value = terms[i].signal.load();
        if (holds(terms[i].condition, value, terms[i].than)) continue;
        if (text.size() > 300) {
            ++more;
            continue;
        }
        text += (text.empty() ? "" : ", ") + ("signal " + std::to_string(i)) + " wants value " +
                detail::condition_text(terms[i].condition, terms[i].than) + " and has " + std::to_string(value);
    }
    return more == 0 ? text : text + ", and " + std::to_string(more) + " more";
}

}  // namespace

std::int64_t SignalRef::load() const noexcept { return value_of(native_).load(std::memory_order_acquire); }
std::int64_t SignalRef::load_relaxed() const noexcept { return value_of(native_).load(std::memory_order_relaxed); }

// Through the runtime, because a store must also wake blocked threads.
void SignalRef::store(std::int64_t value) const noexcept { hsa_signal_store_screlease(native_, value); }
void SignalRef::add(std::int64_t value) const noexcept { hsa_signal_add_screlease(native_, value); }
void SignalRef::subtract(std::int64_t value) const noexcept { hsa_signal_subtract_screlease(native_, value); }
std::int64_t SignalRef::exchange(std::int64_t value) const noexcept {
    return hsa_signal_exchange_scacq_screl(native_, value);
}
std::int64_t SignalRef::compare_exchange(std::int64_t expected, std::int64_t desired) const noexcept {
    return hsa_signal_cas_scacq_screl(native_, expected, desired);
}

std::optional<std::int64_t> SignalRef::try_wait(Condition condition, std::int64_t than,
                                                Deadline deadline) const noexcept {
    const auto text = [&] { return wait_text(*this, condition, than, deadline); };
    return logged(Area::signal, "SignalRef::try_wait", text,
                  [&] { return detail::wait_one(*this, condition, than, deadline); });
}

std::int64_t SignalRef::wait(Condition condition, std::int64_t than, Deadline deadline) const {
    const auto text = [&] { return wait_text(*this, condition, than, deadline); };
    return logged(Area::signal, "SignalRef::wait", text, [&] {
        if (const auto value = try_wait(condition, than, deadline)) return *value;
        refuse_in_forked_child("SignalRef::wait");
        throw Timeout("SignalRef::wait(value " + detail::condition_text(condition, than) + ", " + deadline.text() +
                      "): the value is " + std::to_string(load()));
    });
}

std::optional<std::size_t> try_wait_any(std::span<const SignalTerm> terms, Deadline deadline) noexcept {
    if (terms.empty()) return std::nullopt;
    return logged(
        Area::signal, "hsadrv::try_wait_any", [&] { return terms_text(terms, deadline); },
        [&] { return detail::wait_any(terms, deadline); });
}

std::size_t wait_any(std::span<const SignalTerm> terms, Deadline deadline) {
    if (terms.empty()) throw InvalidArgument("hsadrv::wait_any(): no signals, so none will ever change");
    const auto await = [&] {
        if (const auto index = try_wait_any(terms, deadline)) return *index;
        refuse_in_forked_child("hsadrv::wait_any");
        throw Timeout("hsadrv::wait_any(" + terms_text(terms, deadline) + "): none of them: " + unmet(terms));
    };
    return logged(Area::signal, "hsadrv::wait_any", [&] { return terms_text(terms, deadline); }, await);
}

bool try_wait_all(std::span<const SignalTerm> terms, Deadline deadline) noexcept {
    const auto await = [&] {
        return std::all_of(terms.begin(), terms.end(), [&](const SignalTerm& term) {
            return term.signal.try_wait(term.condition, term.than, deadline).has_value();
        });
    };
    return logged(Area::signal, "hsadrv::try_wait_all", [&] { return terms_text(terms, deadline); }, await);
}

void wait_all(std::span<const SignalTerm> terms, Deadline deadline) {
    const auto await = [&] {
        if (try_wait_all(terms, deadline)) return;
        refuse_in_forked_child("hsadrv::wait_all");
        throw Timeout("hsadrv::wait_all(" + terms_text(terms, deadline) + "): not yet: " + unmet(terms));
    };
    logged(Area::signal, "hsadrv::wait_all", [&] { return terms_text(terms, deadline); }, await);
}

Signal Signal::create(std::int64_t initial) {
    const auto make = [&] {
        const Driver driver = Driver::current("Signal::create");
        hsa_signal_t native{};
        check(hsa_signal_create(initial, 0, nullptr, &native), "hsa_signal_create()");
        detail::departures::note_created(native.handle);
        return Signal(driver, native);
    };
    return logged(Area::signal, "Signal::create", [&] { return std::to_string(initial); }, make);
}

Signal Signal::from_native(hsa_signal_t native) { return Signal(Driver::current("Signal::from_native"), native); }

// A packet of a destroyed stream that is still in a ring may write to it.
void Signal::Traits::destroy(Native signal) noexcept {
    const auto end = [](std::uint64_t handle) { hsa_signal_destroy({handle}); };
    if (!detail::departures::defer(end, signal.handle)) end(signal.handle);
}

}  // namespace hsadrv
