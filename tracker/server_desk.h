// One I/O thread's part of the tracker: the announce core of its shard of the contents, and the
// requests of its connections. What belongs to another shard goes there as a parcel, and comes back
// with the answer. A connection's parcels stand in a line, so that answers go out in the order of
// requests; what is asked behind one stands in the line too.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "proto/transport/transport.h"
#include "tracker/announce_core.h"
#include "tracker/server_mail.h"
#include "tracker/worker.h"

namespace firn::tracker {

enum class LogLevel { kDebug, kInfo, kWarning };
using Log = std::function<void(LogLevel, const std::string&)>;

// What may change while a tracker runs.
struct DeskRules {
  CoreRules core;
  bool log_requests = false;
};

// What all desks share. Constant, but for the transport, which is there before anything is asked.
struct DeskOptions {
  CoreOptions core;
  std::uint64_t seed = 0;
  std::function<Time()> clock;
  Log log;
  bool log_requests = false;
  Worker* worker = nullptr;  // checks large manifests; null: CoreOptions do not ask for that
};

// Its I/O thread's, but for mail().
class Desk {
 public:
  using ConnectionId = proto::transport::ConnectionId;
  using Replies = proto::transport::Replies;
  using Desks = std::vector<std::unique_ptr<Desk>>;

  // `desks`: all of them, this one at `number`; their places are those of the shards. All outlive
  // it.
  Desk(Registry& registry, const DeskOptions& options, std::size_t number, const Desks& desks);
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  void use(proto::transport::Transport& transport) { transport_ = &transport; }

  void opened(ConnectionId id, const proto::transport::PeerInfo& info);
  Status requested(ConnectionId id, std::span<const std::uint8_t> frame, Replies& replies);
  void closed(ConnectionId id);
  // Looks at the mail.
  void woken();
  // Lets the core forget, if it is time, and the registry write.
  void look_at_time();
  void change(DeskRules rules);
  // Whether its thread is behind (AnnounceCore::strain).
  void strain(bool strained) { core_.strain(strained); }
  // What is left to be written.
  void flush();
  // Its shard's, with the connections of its thread.
  Snapshot snapshot() const;

 private:
  struct Visitor {
    PeerId peer;
    std::string ip;
    std::vector<bool> shards = {};  // that know it; empty: its own alone
    // With answers, in the order of requests. Null: it is away, and others own it.
    std::deque<std::unique_ptr<Parcel>> line = {};
    std::uint64_t first = 0;      // place of the line's first
    bool to_be_answered = false;  // in answered_
    bool holds_part = false;      // of a manifest, in the line
  };

  // A manifest on the worker, and who waits for the answer.
  struct Checking {
    WholeManifest whole;
    ConnectionId connection = 0;
    std::unique_ptr<Parcel> parcel;  // null where there is one desk
    Status right = Done{};
  };

  // A value: there is no answer before this manifest has been checked.
  std::optional<WholeManifest> answer(ConnectionId id, const proto::TrackerRequest& request,
                                      Time now, FrameOut& out);
  void check(ConnectionId id, WholeManifest whole, std::unique_ptr<Parcel> parcel);
  void answer_checked();
  static std::unique_ptr<Parcel>& give_place(Visitor& visitor, Parcel& parcel);
  void stand_in_line(Visitor& visitor, std::unique_ptr<Parcel> parcel,
                     std::optional<WholeManifest> whole);
  void forward(std::size_t shard, Visitor& visitor, ConnectionId id,
               const proto::TrackerRequest& request);
  void answer_line(ConnectionId id);
  void put_away(std::unique_ptr<Parcel> parcel);
  void send(std::size_t to, std::unique_ptr<Parcel> parcel);
  void take(std::unique_ptr<Parcel> parcel);
  std::unique_ptr<Parcel> new_parcel(Parcel::Kind kind, ConnectionId id);
  void told(const Status& flushed);
  void log(LogLevel level, const std::string& text) const;

  Registry& registry_;
  const DeskOptions& options_;
  bool log_requests_;
  const std::size_t number_;
  const Desks& desks_;
  AnnounceCore core_;
  Mail mail_;
  std::vector<std::unique_ptr<Parcel>> unused_;
  std::unordered_map<ConnectionId, Visitor> visitors_;  // none where there is one desk
  std::vector<ConnectionId> answered_;                  // whose lines have moved
  std::vector<std::uint8_t> frames_;                    // of a line, kept for its memory
  std::mutex checked_mutex_;                            // guards what the worker has done
  std::vector<std::shared_ptr<Checking>> checked_;
  bool flush_failed_ = false;  // said once
  std::uint64_t accepted_count_ = 0;
  proto::transport::Transport* transport_ = nullptr;
};

}  // namespace firn::tracker
