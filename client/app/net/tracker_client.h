// Speaks to one tracker for one content: announces, and fetches or puts the manifest in parts. One
// connection, made when there is something to ask and kept for what follows; requests go one at a
// time; an answer that takes longer than 15 s counts as a failure, and so do parts of a manifest
// that come (or are taken) at less than kManifestRateMin.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/app/net/connections.h"
#include "client/app/net/manifest_spool.h"
#include "client/core/base/types.h"
#include "proto/base/address.h"
#include "proto/base/result.h"
#include "proto/messages.h"

namespace firn::app {

class TrackerEvents {
 public:
  virtual ~TrackerEvents() = default;
  virtual void tracker_replied(std::size_t tracker, const proto::AnnounceReply& reply) = 0;
  virtual void tracker_failed(std::size_t tracker, const Error& error,
                              std::uint32_t retry_seconds) = 0;
  // All of its bytes, which nobody has looked at.
  virtual void tracker_manifest(std::size_t tracker,
                                Result<std::shared_ptr<ManifestSpool>> file_bytes) = 0;
  // An address without id: this key has been seen first and is asked for from now on.
  virtual void tracker_key_seen(std::size_t tracker, const Address& pinned) = 0;
};

// Main thread.
class TrackerClient final : public ReplyEvents {
 public:
  static constexpr core::TimeUs kTimeout = 15 * core::kSecond;
  // Bytes of the manifest a second that a tracker gets on average before it is offered again, or
  // one that never keeps any would have it uploaded without end.
  static constexpr core::TimeUs kOfferRate = 16 << 10;

  // `number`: of the tracker, for the events. `manifest_memory`: as ManifestSpool's.
  TrackerClient(Connections& connections, std::size_t number, const Address& address,
                const ContentId& content, TrackerEvents& events,
                std::size_t manifest_memory = 1 << 20);
  ~TrackerClient() override;

  // Under the id that trackers know the content by, whatever `announce` says.
  void announce(proto::Announce announce, core::TimeUs now);
  void fetch_manifest(core::TimeUs now);
  // Also after later announces whose reply says that the tracker has no manifest, at most as often
  // as kOfferRate says.
  void offer_manifest(std::string file_bytes) { offered_ = std::move(file_bytes); }

  void wake(core::TimeUs now);
  core::TimeUs next_wake() const { return deadline_; }
  bool idle() const { return tasks_.empty(); }
  // The last announce was answered so: the tracker does not serve this content.
  bool refused() const { return refused_; }
  // Where it answered last, numeric; empty before that.
  const std::string& ip() const { return ip_; }
  // With the id once it is known.
  const Address& address() const { return address_; }

  void opened(const proto::transport::PeerInfo& info, core::TimeUs now) override;
  void replied(proto::TrackerReply reply, core::TimeUs now) override;
  void closed(const Error& error, core::TimeUs now) override;

 private:
  enum class Kind { kAnnounce, kFetch, kPut };
  struct Task {
    Kind kind = Kind::kAnnounce;
    proto::Announce announce = {};
    std::string data = {};  // of the manifest that is being put
    std::shared_ptr<ManifestSpool> fetched = {};
    std::uint64_t offset = 0;
    core::TimeUs began = 0;       // being the first
    bool answered = false;        // with something that was not the end of it
    bool manifest_shown = false;  // of an announce that was refused before
  };
  void start(Task task, core::TimeUs now);
  void begin_front();
  void go_on();
  void request();
  void finish_front();
  bool announce_waits() const;
  void fail_front(const Error& error, std::uint32_t retry_seconds);
  void disconnect();
  void on(const proto::AnnounceReply& reply);
  void on(proto::ManifestPart& part);
  void on(const proto::TrackerManifestPutReply& reply);
  void on(const proto::TrackerError& error);
  void unexpected();

  Connections& connections_;
  const std::size_t number_;
  Address address_;
  const ContentId content_;
  TrackerEvents& events_;
  const std::size_t manifest_memory_;
  std::optional<std::string> offered_;
  core::TimeUs next_offer_ = 0;
  std::optional<PublicKey> signer_;  // as the last announce says

  std::optional<ConnectionId> connection_;
  std::string ip_;
  bool open_ = false;
  bool refused_ = false;
  bool used_ = false;  // has answered before: may have been closed for idleness
  std::deque<Task> tasks_;
  core::TimeUs deadline_ = core::kNever;
  core::TimeUs now_ = 0;
};

}  // namespace firn::app
