// Internal: a stream's part in a capture: the graph that its calls go to, and the nodes that its next one follows.
//
//   capture.begin(graph, handle, label);   // the origin
//   capture.join(session, …);              // another stream, which waits for an event of the capture
//   if (capture.add(call)) return;         // recorded
//
// Streams of one capture share its session. It begins and ends with the origin; the others leave then. Thread safety:
// the stream's mutex guards a StreamCapture, except active(); a session has a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "hsadrv/stream/graph_state.hpp"

namespace hsadrv::detail {

class StreamHandle;

/// One capture of one or more streams.
class CaptureSession {
  public:
    CaptureSession(AgentRef agent, std::string origin)
        : graph_(std::make_shared<GraphState>(agent)), origin_(std::move(origin)) {}

    const std::shared_ptr<GraphState>& graph() const noexcept { return graph_; }
    /// The name of the stream that began it.
    const std::string& origin() const noexcept { return origin_; }
    bool over() const noexcept { return over_.load(std::memory_order_acquire); }

    /// The number of the stream that joins. Throws InvalidArgument if the capture has ended: dismiss() would miss it.
    std::size_t join(std::shared_ptr<StreamHandle> stream, std::string label);
    void set_last(std::size_t stream, GraphState::Nodes nodes);
    struct NotJoined {
        std::string label;
        bool closed;
    };
    /// The streams whose last nodes `last` does not follow.
    std::vector<NotJoined> not_joined(const GraphState::Nodes& last) const;
    void set_closed(std::size_t stream) noexcept;
    /// No stream records any more. The origin's mutex may be held.
    void end() noexcept { over_.store(true, std::memory_order_release); }
    /// After end(): makes the other streams leave. Call with no lock held.
    void dismiss() noexcept;

  private:
    struct Member {
        std::shared_ptr<StreamHandle> stream;
        std::string label;
        GraphState::Nodes last;
        bool closed = false;
    };

    std::shared_ptr<GraphState> graph_;
    std::string origin_;
    std::atomic<bool> over_{false};  // released after the last node
    mutable std::mutex mutex_;       // guards the list
    std::vector<Member> members_;    // without the origin
};

/// An event that was recorded in a capture: a wait for it follows these nodes.
struct CapturePoint {
    std::shared_ptr<CaptureSession> session;
    GraphState::Nodes nodes;
};

class StreamCapture {
  public:
    /// Any thread.
    bool active() const noexcept { return active_.load(std::memory_order_acquire); }
    explicit operator bool() const noexcept { return session_ != nullptr; }
    const std::shared_ptr<CaptureSession>& session() const noexcept { return session_; }
    bool is_origin() const noexcept { return number_ == origin; }

    void begin(std::shared_ptr<CaptureSession> session) { enter(std::move(session), origin); }
    void join(std::shared_ptr<CaptureSession> session, std::shared_ptr<StreamHandle> stream, std::string label);
    /// Returns the session, null if there was none.
    std::shared_ptr<CaptureSession> leave() noexcept;
    /// The same for a stream that is closed.
    std::shared_ptr<CaptureSession> close() noexcept {
        if (session_ && !is_origin()) session_->set_closed(number_);
        return leave();
    }

    /// The nodes that the next one follows.
    const GraphState::Nodes& last() const noexcept { return last_; }
    void set_last(GraphState::Nodes nodes);
    void follow(const GraphState::Nodes& nodes);

    void add_kernel(const DispatchSpec& spec, const std::byte* arguments);
    void add(GraphState::Call call);
    void keep_alive(std::shared_ptr<const void> object) { session_->graph()->keep_alive(std::move(object)); }

  private:
    static constexpr std::size_t origin = SIZE_MAX;

    void enter(std::shared_ptr<CaptureSession> session, std::size_t number);
    void require_open() const;

    std::shared_ptr<CaptureSession> session_;
    GraphState::Nodes last_;
    std::size_t number_ = origin;
    std::atomic<bool> active_{false};  // set and cleared with the mutex, read without
};

}  // namespace hsadrv::detail
