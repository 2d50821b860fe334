#include "hsadrv/stream/thread_streams.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hsadrv/base/leak.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/thread_stream.hpp"

namespace hsadrv::detail {

struct ThreadStreams::List {
    mutable std::mutex mutex;  // not held while a stream is made or ends
    std::unordered_map<Stream*, std::unique_ptr<Stream>> streams;
    bool over = false;

    void add(std::unique_ptr<Stream> stream) {
        const std::lock_guard lock(mutex);
        Stream* const key = stream.get();
        streams.emplace(key, std::move(stream));
    }
    /// Null if another thread has taken it.
    std::unique_ptr<Stream> take(Stream* stream) noexcept {
        const std::lock_guard lock(mutex);
        const auto found = streams.find(stream);
        if (found == streams.end()) return nullptr;
        std::unique_ptr<Stream> taken = std::move(found->second);
        streams.erase(found);
        return taken;
    }
    void end() noexcept {
        decltype(streams) last;  // destroyed after the lock is released
        const std::lock_guard lock(mutex);
        over = true;
        last.swap(streams);
    }
    bool is_over() const noexcept {
        const std::lock_guard lock(mutex);
        return over;
    }
};

namespace {

/// The calling thread's streams, for all GPUs.
struct Mine {
    struct Entry {
        std::shared_ptr<ThreadStreams::List> list;
        Stream* stream;  // owned by the list
    };
    std::vector<Entry> entries;
    ~Mine();
};

// Separate from the list, so that it can be read after the list was destroyed.
thread_local bool thread_is_ending = false;

Mine::~Mine() {
    thread_is_ending = true;
    // In a forked child the streams belong to the parent, and its mutexes may be locked forever.
    if (in_forked_child()) {
        leak(std::move(entries));
        return;
    }
    for (const Entry& entry : entries) entry.list->take(entry.stream).reset();
}

Mine& mine_of_thread() {
    thread_local Mine mine;
    return mine;
}

auto find(Mine& mine, const ThreadStreams::List* list) {
    return std::find_if(mine.entries.begin(), mine.entries.end(),
                        [&](const Mine::Entry& entry) { return entry.list.get() == list; });
}

struct Known {
    std::mutex mutex;
    std::vector<std::pair<AgentRef, std::weak_ptr<ThreadStreams>>> gpus;
};

// Never destroyed: contexts in static storage may be constructed and destroyed at any time.
Known& known() {
    static auto* known = new Known;
    return *known;
}

}  // namespace

std::shared_ptr<ThreadStreams> ThreadStreams::of(AgentRef gpu) {
    auto& [mutex, gpus] = known();
    const std::lock_guard lock(mutex);
    std::erase_if(gpus, [](const auto& entry) { return entry.second.expired(); });
    for (const auto& [agent, streams] : gpus) {
        if (agent != gpu) continue;
        if (auto found = streams.lock()) return found;
    }
    auto fresh = std::make_shared<ThreadStreams>(gpu);
    gpus.emplace_back(gpu, fresh);
    return fresh;
}

ThreadStreams::ThreadStreams(AgentRef gpu) : gpu_(gpu), list_(std::make_shared<List>()) {}

ThreadStreams::~ThreadStreams() {
    if (in_forked_child())
        leak(std::move(list_));
    else
        list_->end();
}

Stream& ThreadStreams::mine() {
    static constexpr const char* call = "hsadrv::Context::thread_stream";
    refuse_in_forked_child(call);
    if (thread_is_ending)
        throw Error(std::string(call) + "(" + gpu_.label() +
                    "): the thread is ending, and its streams have ended; make a Stream");
    Mine& mine = mine_of_thread();
    if (const auto entry = find(mine, list_.get()); entry != mine.entries.end()) return *entry->stream;
    std::erase_if(mine.entries, [](const Mine::Entry& entry) { return entry.list->is_over(); });
    mine.entries.reserve(mine.entries.size() + 1);
    auto fresh = std::make_unique<Stream>(gpu_);
    Stream* const stream = fresh.get();
    list_->add(std::move(fresh));
    mine.entries.push_back({list_, stream});
    return *stream;
}

bool ThreadStreams::close_mine(Deadline deadline) noexcept {
    if (in_forked_child() || thread_is_ending) return true;
    Mine& mine = mine_of_thread();
    const auto entry = find(mine, list_.get());
    if (entry == mine.entries.end()) return true;
    const std::unique_ptr<Stream> stream = list_->take(entry->stream);
    mine.entries.erase(entry);
    return !stream || stream->close(deadline);
}

}  // namespace hsadrv::detail

namespace hsadrv {

ThreadStream::ThreadStream(AgentRef gpu) : streams_(detail::ThreadStreams::of(gpu)), stream_(&streams_->mine()) {}

}  // namespace hsadrv
