// Parties that announce to a BitTorrent tracker, for comparison: over HTTP with a connection for
// each announce (BEP 3, BEP 23), and over UDP (BEP 15).
#pragma once

#include <string>
#include <vector>

#include "tests/tracker_load/party.h"

namespace firn::tracker_load {

inline constexpr std::size_t kTorrentHashBytes = 20;  // of a content's id the first

class HttpParty final : public Party {
 public:
  HttpParty(const proto::transport::SocketAddress& target, const Workload& workload,
            std::size_t number, Tally& tally);

  Status begin(TimeUs now) override;
  Status go_on(TimeUs now) override;
  bool ask(TimeUs) override { return false; }
  Status send_asked(TimeUs) override { return Done{}; }

 private:
  const proto::transport::SocketAddress target_;
  const std::size_t number_;
  std::vector<std::string> requests_;
  Tally& tally_;
  std::string in_;
  bool sent_ = false;
  std::size_t asked_ = 0;
  TimeUs asked_at_ = 0;
};

class UdpParty final : public Party {
 public:
  UdpParty(const proto::transport::SocketAddress& target, const Workload& workload,
           const PartyOptions& options, std::size_t number, Tally& tally);

  Status begin(TimeUs now) override;
  Status go_on(TimeUs now) override;
  bool ask(TimeUs due) override;
  Status send_asked(TimeUs) override { return Done{}; }
  void look(TimeUs now) override;

 private:
  void send_connect();
  void send_announce(TimeUs now);
  Status take(const std::uint8_t* bytes, std::size_t count, TimeUs now);

  const proto::transport::SocketAddress target_;
  const Workload& workload_;
  const PartyOptions& options_;
  const std::size_t number_;
  const std::vector<std::uint32_t> contents_;
  const bool complete_;
  Tally& tally_;
  std::uint64_t connection_ = 0;
  std::size_t asked_ = 0;
  std::size_t waiting_ = 0;
  TimeUs heard_at_ = 0;
  std::vector<TimeUs> asked_at_;  // by transaction number, modulo in_flight
};

}  // namespace firn::tracker_load
