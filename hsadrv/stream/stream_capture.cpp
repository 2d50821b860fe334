#include "hsadrv/stream/stream_capture.hpp"

#include <algorithm>
#include <cstring>

#include "hsadrv/error.hpp"
#include "hsadrv/stream/stream_handle.hpp"

namespace hsadrv::detail {

std::size_t CaptureSession::join(std::shared_ptr<StreamHandle> stream, std::string label) {
    const std::lock_guard lock(mutex_);
    if (over()) throw InvalidArgument(label + ": the capture that began on " + origin_ + " has ended meanwhile");
    members_.push_back({std::move(stream), std::move(label), {}, false});
    return members_.size() - 1;
}

void CaptureSession::set_last(std::size_t stream, GraphState::Nodes nodes) {
    const std::lock_guard lock(mutex_);
    if (stream < members_.size()) members_[stream].last = std::move(nodes);  // else it was dismissed
}

std::vector<CaptureSession::NotJoined> CaptureSession::not_joined(const GraphState::Nodes& last) const {
    const std::lock_guard lock(mutex_);
    std::vector<NotJoined> streams;
    for (const Member& member : members_)
        if (!graph_->outside(member.last, last).empty()) streams.push_back({member.label, member.closed});
    return streams;
}

void CaptureSession::set_closed(std::size_t stream) noexcept {
    const std::lock_guard lock(mutex_);
    if (stream < members_.size()) members_[stream].closed = true;
}

void CaptureSession::dismiss() noexcept {
    std::vector<Member> members;
    {
        const std::lock_guard lock(mutex_);
        members.swap(members_);
    }
    for (const Member& member : members) member.stream->leave_capture(*this);
}

void StreamCapture::enter(std::shared_ptr<CaptureSession> session, std::size_t number) {
    session_ = std::move(session);
    number_ = number;
    last_.clear();
    active_.store(true, std::memory_order_release);
}

void StreamCapture::join(std::shared_ptr<CaptureSession> session, std::shared_ptr<StreamHandle> stream,
                         std::string label) {
    const std::size_t number = session->join(std::move(stream), std::move(label));
    enter(std::move(session), number);
}

std::shared_ptr<CaptureSession> StreamCapture::leave() noexcept {
    active_.store(false, std::memory_order_release);
    last_.clear();
    number_ = origin;
    return std::exchange(session_, nullptr);
}

void StreamCapture::set_last(GraphState::Nodes nodes) {
    if (!is_origin()) session_->set_last(number_, nodes);
    last_ = std::move(nodes);
}

void StreamCapture::follow(const GraphState::Nodes& nodes) {
    GraphState::Nodes all = last_;
    all.insert(all.end(), nodes.begin(), nodes.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    set_last(std::move(all));
}

void StreamCapture::require_open() const {
    if (session_->over())
        throw InvalidArgument("hsadrv::Stream: the capture that began on " + session_->origin() +
                              " ended while another thread recorded");
}

void StreamCapture::add_kernel(const DispatchSpec& spec, const std::byte* arguments) {
    require_open();
    std::byte* const place = session_->graph()->begin_kernel(spec);
    std::memcpy(place, arguments, spec.kernarg_bytes);
    set_last({session_->graph()->commit_kernel(spec, place, last_)});
}

void StreamCapture::add(GraphState::Call call) {
    require_open();
    set_last({session_->graph()->add(std::move(call), last_)});
}

}  // namespace hsadrv::detail
