#include "tests/kfdemu/differential/host_group.hpp"

#include <algorithm>
#include <stdexcept>

namespace differential {
namespace {
constexpr std::size_t kItemStackBytes = 192 * 1024;
HostGroup* the_group = nullptr;
}  // namespace

WaveShape wave_shape;

HostGroup& HostGroup::running() { return *the_group; }

Extent Place::size() const {
    Extent result;
    for (unsigned d = 0; d < 3; ++d) result[d] = std::min(full_size[d], grid[d] - id[d] * full_size[d]);
    return result;
}

void HostGroup::run_grid(const Extent& grid, const Extent& size, const std::function<void()>& kernel) {
    for (std::uint32_t z = 0; z * size[2] < grid[2]; ++z)
        for (std::uint32_t y = 0; y * size[1] < grid[1]; ++y)
            for (std::uint32_t x = 0; x * size[0] < grid[0]; ++x) run({{x, y, z}, grid, size}, kernel);
}

void HostGroup::run(const Place& place, const std::function<void()>& kernel) {
    HostGroup group{place, kernel};
    the_group = &group;
    group.run_to_end();
    the_group = nullptr;
}

HostGroup::HostGroup(const Place& place, const std::function<void()>& kernel)
    : place_{place},
      kernel_{kernel},
      items_(std::size_t{place.size()[0]} * place.size()[1] * place.size()[2]),
      stacks_{new char[items_.size() * kItemStackBytes]},
      waves_((items_.size() + wave_shape.lanes - 1) / wave_shape.lanes) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
        ucontext_t& context = items_[i].context;
        getcontext(&context);
        context.uc_stack.ss_sp = stacks_.get() + i * kItemStackBytes;
        context.uc_stack.ss_size = kItemStackBytes;
        context.uc_link = &scheduler_;
        makecontext(&context, &HostGroup::enter, 0);
    }
}

std::uint32_t HostGroup::item(unsigned dimension) const {
    const auto [x, y, z] = place_.size();
    return dimension == 0 ? current_ % x : dimension == 1 ? current_ / x % y : current_ / x / y;
}

void HostGroup::enter() {
    the_group->kernel_();
    the_group->items_[the_group->current_].state = State::Ended;
}

void HostGroup::wait(State state) {
    Item& self = items_[current_];
    self.state = state;
    swapcontext(&self.context, &scheduler_);
}

const Lanes& HostGroup::exchange(std::uint32_t value) {
    // No lane reaches the exchange after the next before all have read this one, so two sets of slots suffice.
    Lanes& slots = waves_[current_ / wave_shape.lanes][items_[current_].exchanges++ % 2];
    slots[current_ % wave_shape.lanes] = value;
    wait(State::AtExchange);
    return slots;
}

const Told& HostGroup::meet(std::uint32_t place, std::uint32_t value) {
    Item& self = items_[current_];
    self.place = place;
    self.value = value;
    wait(State::AtMeeting);
    return self.told;
}

bool HostGroup::release_meeting(std::size_t first, std::size_t count) {
    const auto begin = items_.begin() + std::ptrdiff_t(first), end = begin + std::ptrdiff_t(count);
    std::uint32_t place = ~0u;
    for (auto i = begin; i != end; ++i)
        if (i->state == State::AtMeeting) place = std::min(place, i->place);
    const auto is_there = [&](const Item& i) { return i.state == State::AtMeeting && i.place == place; };
    Told told;
    for (auto i = begin; i != end; ++i) {
        if (!is_there(*i)) continue;
        told.values[std::size_t(i - begin)] = i->value;
        told.lanes |= std::uint64_t{1} << (i - begin);
    }
    for (auto i = begin; i != end; ++i) {
        if (!is_there(*i)) continue;
        i->told = told;
        i->state = State::Ready;
    }
    return told.lanes != 0;
}

bool HostGroup::release(std::size_t first, std::size_t count, State waiting) {
    const auto begin = items_.begin() + std::ptrdiff_t(first), end = begin + std::ptrdiff_t(count);
    bool any = false;
    for (auto i = begin; i != end; ++i) {
        if (i->state != waiting && (waiting == State::AtExchange || i->state != State::Ended)) return false;
        any |= i->state == waiting;
    }
    for (auto i = begin; i != end; ++i)
        if (i->state == waiting) i->state = State::Ready;
    return any;
}

void HostGroup::run_to_end() {
    for (;;) {
        for (current_ = 0; current_ < size(); ++current_)
            if (items_[current_].state == State::Ready) swapcontext(&scheduler_, &items_[current_].context);
        bool released = false;
        for (std::size_t wave = 0; wave < items_.size(); wave += wave_shape.lanes) {
            const std::size_t lanes = std::min(std::size_t{wave_shape.lanes}, items_.size() - wave);
            released |= release(wave, lanes, State::AtExchange) || release_meeting(wave, lanes);
        }
        if (!released) released = release(0, items_.size(), State::AtBarrier);
        if (released) continue;
        if (std::all_of(items_.begin(), items_.end(), [](const Item& i) { return i.state == State::Ended; })) return;
        throw std::logic_error{"work-items of a host twin wait forever: not all lanes of a wave exchange"};
    }
}

int dpp_source(int control, int lane) {
    const int row = lane & ~15, column = lane & 15;
    const auto in_row = [&](int c) { return c >= 0 && c < 16 ? row + c : -1; };
    if (control <= 0xff) return (lane & ~3) | (control >> 2 * (lane & 3) & 3);
    if (control <= 0x10f) return in_row(column + (control & 15));
    if (control <= 0x11f) return in_row(column - (control & 15));
    if (control <= 0x12f) return row | ((column - (control & 15)) & 15);
    switch (control) {
        case 0x130:
            return lane < 63 ? lane + 1 : -1;
        case 0x134:
            return (lane + 1) & 63;
        case 0x138:
            return lane - 1;
        case 0x13c:
            return (lane - 1) & 63;
        case 0x140:
            return row | (15 - column);
        case 0x141:
            return (lane & ~7) | (7 - (lane & 7));
        case 0x142:
            return row - 1;
        case 0x143:
            return lane >= 32 ? 31 : -1;
    }
    throw std::logic_error{"no such DPP_CTRL"};
}

}  // namespace differential
