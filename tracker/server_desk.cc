#include "tracker/server_desk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "proto/base/within_memory.h"
#include "proto/wire_fields.h"
#include "tracker/request_text.h"

namespace firn::tracker {
namespace {

using proto::transport::PeerInfo;
using proto::transport::Replies;

constexpr std::size_t kLineMax = 16;                // then a connection is not read on
constexpr std::size_t kUnusedMax = 4096;            // parcels
constexpr std::size_t kAnswerBytesKept = 16 << 10;  // of a parcel that is not used

class ReplyOut final : public FrameOut {
 public:
  explicit ReplyOut(Replies& replies) : replies_(replies) {}
  std::uint8_t* prepare(std::size_t bytes) override { return replies_.prepare(bytes); }
  void commit(std::size_t bytes) override { replies_.commit(bytes); }

 private:
  Replies& replies_;
};

class ParcelOut final : public FrameOut {
 public:
  explicit ParcelOut(Parcel& parcel) : answer_(parcel.answer) {}
  std::uint8_t* prepare(std::size_t bytes) override {
    answer_.resize(used_ + bytes);
    return answer_.data() + used_;
  }
  void commit(std::size_t bytes) override {
    used_ += bytes;
    answer_.resize(used_);
  }

 private:
  std::vector<std::uint8_t>& answer_;
  std::size_t used_ = 0;
};

// It, or its answer, may carry a part of a manifest (limits::kManifestPartBytes).
bool carries_part(const proto::TrackerRequest& request) {
  return !std::holds_alternative<proto::Announce>(request);
}

void put(const proto::TrackerReply& reply, FrameOut& out) {
  const std::string frame = proto::serialize(reply).head;
  std::memcpy(out.prepare(frame.size()), frame.data(), frame.size());
  out.commit(frame.size());
}

}  // namespace

Desk::Desk(Registry& registry, const DeskOptions& options, std::size_t number, const Desks& desks)
    : registry_(registry),
      options_(options),
      log_requests_(options.log_requests),
      number_(number),
      desks_(desks),
      core_(registry, options.core, options.seed + number) {}

void Desk::opened(ConnectionId id, const PeerInfo& info) {
  ++accepted_count_;
  core_.connected(id, info.id, info.ip, options_.clock());
  if (desks_.size() > 1) visitors_[id] = {info.id, info.ip};
}

void Desk::closed(ConnectionId id) {
  core_.disconnected(id);
  const auto found = visitors_.find(id);
  if (found == visitors_.end()) return;
  Visitor visitor = std::move(found->second);
  visitors_.erase(found);
  for (std::size_t shard = 0; shard < visitor.shards.size(); ++shard)
    if (visitor.shards[shard]) send(shard, new_parcel(Parcel::Kind::kClosed, id));
  // Those that are away are put away when they come back.
  for (auto& parcel : visitor.line)
    if (parcel) put_away(std::move(parcel));
}

Status Desk::requested(ConnectionId id, std::span<const std::uint8_t> frame, Replies& replies) {
  ReplyOut out(replies);
  const auto request = proto::parse_tracker_request(frame);
  if (!request) {
    put(proto::TrackerError{proto::TrackerErrorCode::kMalformed, request.error().detail, 0}, out);
    return request.error();
  }
  const Time now = options_.clock();
  const ContentId& content =
      std::visit([](const auto& one) -> const ContentId& { return one.content_id; }, *request);
  const std::size_t shard = shard_of(content, desks_.size());
  const Time wait = core_.wait_of(id, *request, now);
  const bool own = shard == number_ || wait > Time::zero();
  const auto answer_to = [&](FrameOut& to) -> std::optional<WholeManifest> {
    if (wait == Time::zero()) return answer(id, *request, now, to);
    put(core_.too_many_requests(wait), to);
    return std::nullopt;
  };
  const bool alone = desks_.size() == 1;
  std::optional<WholeManifest> whole;
  const bool at_once = alone || (own && visitors_.at(id).line.empty());
  if (at_once) whole = answer_to(out);
  if (alone && whole) {
    check(id, *std::move(whole), nullptr);
    replies.come_later();
  } else if (!at_once || whole) {
    Visitor& visitor = visitors_.at(id);
    if (own) {
      auto parcel = new_parcel(Parcel::Kind::kAnswer, id);
      ParcelOut into(*parcel);
      if (!at_once) whole = answer_to(into);
      stand_in_line(visitor, std::move(parcel), std::move(whole));
    } else {
      forward(shard, visitor, id, *request);
    }
    visitor.holds_part = visitor.holds_part || carries_part(*request);
    if (visitor.holds_part || visitor.line.size() >= kLineMax) replies.come_later();
  }
  core_.tick(now);
  return Done{};
}

std::optional<WholeManifest> Desk::answer(ConnectionId id, const proto::TrackerRequest& request,
                                          Time now, FrameOut& out) {
  const auto* announce = std::get_if<proto::Announce>(&request);
  if (announce != nullptr && !log_requests_) {
    core_.announce(id, *announce, now, out);
    return std::nullopt;
  }
  const proto::TrackerReply reply = core_.answer(id, request, now);
  if (auto whole = core_.take_whole()) return whole;
  if (log_requests_) log(LogLevel::kDebug, core_.name_of(id) + ": " + text_of(request, reply));
  put(reply, out);
  return std::nullopt;
}

// At the end of its line, empty until the answer comes.
std::unique_ptr<Parcel>& Desk::give_place(Visitor& visitor, Parcel& parcel) {
  parcel.place = visitor.first + visitor.line.size();
  return visitor.line.emplace_back();
}

// `whole`: the answer waits for its check.
void Desk::stand_in_line(Visitor& visitor, std::unique_ptr<Parcel> parcel,
                         std::optional<WholeManifest> whole) {
  auto& place = give_place(visitor, *parcel);
  const ConnectionId id = parcel->connection;
  if (whole) return check(id, *std::move(whole), std::move(parcel));
  place = std::move(parcel);
}

// --- manifests that take long to check ---

void Desk::check(ConnectionId id, WholeManifest whole, std::unique_ptr<Parcel> parcel) {
  auto one = std::make_shared<Checking>();
  one->whole = std::move(whole);
  one->connection = id;
  one->parcel = std::move(parcel);
  options_.worker->run([this, one] {
    one->right = within_memory(
        "check the manifest", [&] { return check_manifest(one->whole.bytes, one->whole.content); });
    {
      const std::lock_guard lock(checked_mutex_);
      checked_.push_back(one);
    }
    transport_->wake(number_);
  });
}

void Desk::answer_checked() {
  std::unique_lock lock(checked_mutex_);
  const auto checked = std::exchange(checked_, {});
  lock.unlock();
  for (const auto& one : checked) {
    const proto::TrackerReply reply = core_.checked(one->whole, one->right);
    if (!one->parcel) {
      const std::string frame = proto::serialize(reply).head;
      transport_->answer(one->connection, proto::as_bytes(frame));
      continue;
    }
    ParcelOut out(*one->parcel);
    put(reply, out);
    const std::size_t home = one->parcel->from;
    home == number_ ? take(std::move(one->parcel)) : send(home, std::move(one->parcel));
  }
}

// --- other shards ---

std::unique_ptr<Parcel> Desk::new_parcel(Parcel::Kind kind, ConnectionId id) {
  std::unique_ptr<Parcel> parcel;
  if (unused_.empty()) {
    parcel = std::make_unique<Parcel>();
  } else {
    parcel = std::move(unused_.back());
    unused_.pop_back();
  }
  parcel->kind = kind;
  parcel->connection = id;
  parcel->from = number_;
  return parcel;
}

void Desk::put_away(std::unique_ptr<Parcel> parcel) {
  if (unused_.size() >= kUnusedMax || parcel->answer.capacity() > kAnswerBytesKept) return;
  parcel->request = {};
  unused_.push_back(std::move(parcel));
}

void Desk::send(std::size_t to, std::unique_ptr<Parcel> parcel) {
  if (desks_[to]->mail_.put(parcel.release())) transport_->wake(to);
}

void Desk::forward(std::size_t shard, Visitor& visitor, ConnectionId id,
                   const proto::TrackerRequest& request) {
  visitor.shards.resize(desks_.size());
  visitor.shards[shard] = true;
  auto parcel = new_parcel(Parcel::Kind::kRequest, id);
  parcel->peer = visitor.peer;
  parcel->ip = visitor.ip;
  parcel->request = request;
  give_place(visitor, *parcel);
  send(shard, std::move(parcel));
}

void Desk::woken() {
  answer_checked();
  for (Parcel* parcel = mail_.take(); parcel != nullptr;)
    take(std::unique_ptr<Parcel>(std::exchange(parcel, parcel->next)));
  for (const ConnectionId id : std::exchange(answered_, {})) answer_line(id);
}

void Desk::take(std::unique_ptr<Parcel> parcel) {
  const ConnectionId id = parcel->connection;
  switch (parcel->kind) {
    case Parcel::Kind::kRequest: {
      const Time now = options_.clock();
      if (!core_.knows(id)) core_.connected(id, parcel->peer, parcel->ip, now);
      ParcelOut out(*parcel);
      auto whole = answer(id, parcel->request, now, out);
      parcel->kind = Parcel::Kind::kAnswer;
      if (whole) return check(id, *std::move(whole), std::move(parcel));
      const std::size_t home = parcel->from;
      return send(home, std::move(parcel));
    }
    case Parcel::Kind::kClosed:
      core_.disconnected(id);
      return put_away(std::move(parcel));
    case Parcel::Kind::kAnswer:
      const auto found = visitors_.find(id);
      if (found == visitors_.end()) return put_away(std::move(parcel));
      Visitor& visitor = found->second;
      const std::uint64_t place = parcel->place - visitor.first;
      visitor.line[place] = std::move(parcel);
      if (!std::exchange(visitor.to_be_answered, true)) answered_.push_back(id);
  }
}

// What has been answered at the head of the line goes out together. With an answer the transport
// reads on: one that stands before a part of a manifest waits for it, so that a line never holds
// two parts.
void Desk::answer_line(ConnectionId id) {
  const auto found = visitors_.find(id);
  if (found == visitors_.end()) return;
  Visitor& visitor = found->second;
  visitor.to_be_answered = false;
  auto& line = visitor.line;
  const auto is_answered = [](const auto& place) { return place != nullptr; };
  if (visitor.holds_part && !std::ranges::all_of(line, is_answered)) return;
  visitor.holds_part = false;
  frames_.clear();
  for (; !line.empty() && is_answered(line.front()); ++visitor.first) {
    std::unique_ptr<Parcel> parcel = std::move(line.front());
    line.pop_front();
    frames_.insert(frames_.end(), parcel->answer.begin(), parcel->answer.end());
    put_away(std::move(parcel));
  }
  if (!frames_.empty()) transport_->answer(id, frames_);  // may close it
}

// --- time ---

void Desk::look_at_time() {
  core_.tick(options_.clock());
  told(registry_.flush_some());
}

void Desk::flush() {
  core_.tick(options_.clock());
  told(registry_.flush());
}

void Desk::change(DeskRules rules) {
  log_requests_ = rules.log_requests;
  core_.change(std::move(rules.core), options_.clock());
}

Snapshot Desk::snapshot() const {
  Snapshot snapshot = core_.snapshot();
  // The core knows visitors of other desks, too.
  if (desks_.size() > 1) snapshot.connection_count = visitors_.size();
  snapshot.accepted_count = accepted_count_;
  snapshot.unwritten = flush_failed_ ? 1 : 0;
  return snapshot;
}

void Desk::told(const Status& flushed) {
  if (!flushed && !flush_failed_)
    log(LogLevel::kWarning, flushed.error().message() + "; going on in memory, trying again");
  if (flushed && flush_failed_) log(LogLevel::kInfo, "the database can be written again");
  flush_failed_ = !flushed;
}

void Desk::log(LogLevel level, const std::string& text) const {
  if (options_.log) options_.log(level, text);
}

}  // namespace firn::tracker
