// Collects the actions of the current step, in the order in which they are to be performed, and
// counts the messages among them.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "client/core/base/actions.h"
#include "client/core/base/context.h"
#include "client/core/base/uplink.h"
#include "client/core/neighbour/neighbour.h"

namespace firn::core {

class Outbox {
 public:
  Outbox(const Context& context, Uplink& uplink) : context_(context), uplink_(uplink) {}

  void push(Action action) { actions_.push_back(std::move(action)); }
  // Never a Block: those are SendBlock actions.
  void send(Neighbour& n, proto::PeerMessage message) {
    const std::size_t bytes = proto::wire_bytes(message);
    uplink_.sent_message(bytes);
    n.traffic.sent(bytes, context_.now);
    push(Send{n.key, std::move(message)});
  }
  // For a person.
  void inform(std::string text, std::string topic = {}) {
    push(Notice{Notice::Kind::kInfo, std::move(text), std::move(topic)});
  }
  void warn(std::string text, std::string topic = {}) {
    push(Notice{Notice::Kind::kWarning, std::move(text), std::move(topic)});
  }

  std::vector<Action> take() {
    std::vector<Action> taken = std::move(actions_);
    actions_ = {};
    actions_.reserve(std::min(taken.size(), kReserved));  // the next step is much like this one
    return taken;
  }

 private:
  static constexpr std::size_t kReserved = 64;

  const Context& context_;
  Uplink& uplink_;
  std::vector<Action> actions_;
};

}  // namespace firn::core
