#include "client/app/net/tracker_client.h"

#include <algorithm>
#include <utility>

#include "client/core/manifest/manifest_patience.h"
#include "proto/base/limits.h"

namespace firn::app {
namespace {

ErrorCode code_of(proto::TrackerErrorCode code) {
  switch (code) {
    case proto::TrackerErrorCode::kUnknownContent:
      return ErrorCode::kNotFound;
    case proto::TrackerErrorCode::kSlowDown:
    case proto::TrackerErrorCode::kInternal:
      return ErrorCode::kUnreachable;
    default:
      return ErrorCode::kProtocol;
  }
}

}  // namespace

TrackerClient::TrackerClient(Connections& connections, std::size_t number, const Address& address,
                             const ContentId& content, TrackerEvents& events,
                             std::size_t manifest_memory)
    : connections_(connections),
      number_(number),
      address_(address),
      content_(content),
      events_(events),
      manifest_memory_(manifest_memory) {}

TrackerClient::~TrackerClient() {
  disconnect();
}

void TrackerClient::announce(proto::Announce announce, core::TimeUs now) {
  announce.content_id = content_;
  signer_ = announce.signer;
  start({.announce = std::move(announce)}, now);
}

void TrackerClient::fetch_manifest(core::TimeUs now) {
  start({.kind = Kind::kFetch, .fetched = std::make_shared<ManifestSpool>(manifest_memory_)}, now);
}

void TrackerClient::start(Task task, core::TimeUs now) {
  now_ = now;
  tasks_.push_back(std::move(task));
  if (tasks_.size() > 1) return;
  begin_front();
}

void TrackerClient::begin_front() {
  tasks_.front().began = now_;
  deadline_ = now_ + kTimeout;
  request();
}

// Asks what the first task needs next; connects first if need be.
void TrackerClient::request() {
  if (!connection_) {
    open_ = used_ = false;
    connection_ = connections_.connect_tracker(*this, address_);
  }
  if (!open_) return;
  const Task& task = tasks_.front();
  proto::TrackerRequest request = task.announce;
  if (task.kind == Kind::kFetch) {
    request = proto::TrackerManifestGet{content_, task.offset, signer_};
  } else if (task.kind == Kind::kPut) {
    std::string part = task.data.substr(task.offset, limits::kManifestPartBytes);
    next_offer_ = std::max(next_offer_, now_) +
                  static_cast<core::TimeUs>(part.size()) * core::kSecond / kOfferRate;
    request = proto::TrackerManifestPut{content_, task.data.size(), task.offset, std::move(part),
                                        signer_};
  }
  connections_.request(*connection_, request);
}

void TrackerClient::opened(const proto::transport::PeerInfo& info, core::TimeUs now) {
  now_ = now;
  open_ = true;
  ip_ = info.ip;
  if (!address_.id) {
    address_.id = info.id;
    events_.tracker_key_seen(number_, address_);
  }
  if (!tasks_.empty()) request();
}

void TrackerClient::closed(const Error& error, core::TimeUs now) {
  now_ = now;
  connection_.reset();
  const bool kept = std::exchange(open_, false) && std::exchange(used_, false);
  if (tasks_.empty()) return;
  // Trackers close idle connections; that our request crossed with that is no failure. One that
  // closes in the midst of a task is not asked again at once: it might do so for ever.
  if (kept && !tasks_.front().answered && error.code != ErrorCode::kCancelled) return request();
  fail_front(error, 0);
}

void TrackerClient::replied(proto::TrackerReply reply, core::TimeUs now) {
  now_ = now;
  if (tasks_.empty()) return disconnect();  // nothing was asked
  used_ = true;
  tasks_.front().answered = true;
  std::visit([this](auto& body) { on(body); }, reply);
}

void TrackerClient::on(const proto::AnnounceReply& reply) {
  if (tasks_.front().kind != Kind::kAnnounce) return unexpected();
  const bool stopping = tasks_.front().announce.event == proto::AnnounceEvent::kStopped;
  if (offered_ && !reply.has_manifest && !stopping && now_ >= next_offer_)
    tasks_.push_back({.kind = Kind::kPut, .data = *offered_});
  refused_ = false;
  events_.tracker_replied(number_, reply);
  finish_front();
}

void TrackerClient::on(proto::ManifestPart& part) {
  Task& task = tasks_.front();
  if (task.kind != Kind::kFetch) return unexpected();
  if (part.total_bytes == 0)
    return fail_front({ErrorCode::kNotFound, "fetch the manifest from " + to_text(address_),
                       "the tracker does not have it"},
                      0);
  if (part.total_bytes > limits::kManifestBytesMax || part.offset != task.offset ||
      part.data.empty() || part.offset + part.data.size() > part.total_bytes)
    return unexpected();
  if (const Status kept = task.fetched->append(part.data); !kept.ok())
    return fail_front(kept.error(), 0);
  task.offset = task.fetched->size();
  if (task.offset < part.total_bytes) return go_on();
  events_.tracker_manifest(number_, std::move(task.fetched));
  finish_front();
}

void TrackerClient::on(const proto::TrackerManifestPutReply& reply) {
  Task& task = tasks_.front();
  if (task.kind != Kind::kPut || reply.next_offset > task.data.size()) return unexpected();
  if (reply.next_offset == task.data.size()) return finish_front();
  if (reply.next_offset <= task.offset) return unexpected();  // no progress: no end either
  task.offset = reply.next_offset;
  go_on();
}

void TrackerClient::on(const proto::TrackerError& error) {
  Task& task = tasks_.front();
  // A tracker for known publishers wants to see the manifest before it takes an announce.
  const bool unseen = task.kind == Kind::kAnnounce && offered_ && !task.manifest_shown &&
                      error.code == proto::TrackerErrorCode::kNotAllowed;
  if (unseen && now_ >= next_offer_) {
    task.manifest_shown = true;
    tasks_.push_front({.kind = Kind::kPut, .data = *offered_});
    return begin_front();
  }
  // What it says of a manifest that it has not seen this time is no news.
  if (!unseen && (task.kind == Kind::kAnnounce || announce_waits()))
    refused_ = error.code == proto::TrackerErrorCode::kNotAllowed;
  fail_front({code_of(error.code), "ask tracker " + to_text(address_), error.detail},
             error.retry_seconds);
}

void TrackerClient::unexpected() {
  disconnect();
  fail_front({ErrorCode::kProtocol, "ask tracker " + to_text(address_),
              "its answer does not fit the question"},
             0);
}

// The next part of the same manifest.
void TrackerClient::go_on() {
  const Task& task = tasks_.front();
  deadline_ = core::manifest_patience(task.began, now_, task.offset, kTimeout);
  request();
}

void TrackerClient::finish_front() {
  tasks_.pop_front();
  deadline_ = core::kNever;
  if (!tasks_.empty()) begin_front();
}

// The manifest in front is put because an announce was refused that comes after it.
bool TrackerClient::announce_waits() const {
  return tasks_.front().kind == Kind::kPut && tasks_.size() > 1 && tasks_[1].manifest_shown;
}

void TrackerClient::fail_front(const Error& error, std::uint32_t retry_seconds) {
  if (announce_waits()) tasks_.pop_front();  // and so has the announce, for the same reason
  const Kind kind = tasks_.front().kind;
  if (kind == Kind::kAnnounce) {
    events_.tracker_failed(number_, error, retry_seconds);
  } else if (kind == Kind::kFetch) {
    events_.tracker_manifest(number_, error);
  }  // a manifest that could not be put is offered again after a later announce
  finish_front();
}

void TrackerClient::wake(core::TimeUs now) {
  now_ = now;
  if (deadline_ > now) return;
  deadline_ = core::kNever;
  disconnect();
  fail_front({ErrorCode::kUnreachable, "ask tracker " + to_text(address_),
              "no answer within 15 seconds, or a manifest too slowly"},
             0);
}

void TrackerClient::disconnect() {
  if (connection_) connections_.close_tracker(*connection_);
  connection_.reset();
  open_ = used_ = false;
}

}  // namespace firn::app
