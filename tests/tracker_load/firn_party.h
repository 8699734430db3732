// A party that announces to firn-tracker: the product's TLS session and frames on a kept or fresh
// connection.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/framing.h"
#include "proto/transport/tls.h"
#include "tests/tracker_load/party.h"

namespace firn::tracker_load {

// Of all parties of one run.
struct FirnTarget {
  proto::transport::SocketAddress address;
  std::optional<PeerId> id;
  std::vector<proto::transport::TlsContext> contexts;  // one of each identity
};

class FirnParty final : public Party {
 public:
  FirnParty(const FirnTarget& target, const Workload& workload, const PartyOptions& options,
            std::size_t number, Tally& tally);

  Status begin(TimeUs now) override;
  Status go_on(TimeUs now) override;
  bool ask(TimeUs due) override;
  Status send_asked(TimeUs now) override;

 private:
  Status shake_hands(TimeUs now);
  Status read(TimeUs now);
  Status deliver(TimeUs now);
  Status take(std::span<const std::uint8_t> frame, TimeUs now);
  Status write();
  void fill(TimeUs now);

  const FirnTarget& target_;
  const Workload& workload_;
  const PartyOptions& options_;
  const std::size_t number_;
  const std::vector<std::uint32_t> contents_;
  const bool complete_;
  Tally& tally_;
  bool connected_ = false;
  std::optional<proto::transport::TlsSession> tls_;
  proto::FrameReader frames_;
  std::string out_;
  std::size_t asked_ = 0;        // since it began
  std::deque<TimeUs> asked_at_;  // in flight
  std::size_t answered_ = 0;     // on this connection
};

}  // namespace firn::tracker_load
