// A question to the system's resolver: the addresses of a name, as /etc/hosts, DNS and what else
// nsswitch.conf names say.
//
// The C library's call cannot be ended, and takes 20 s and more where a name server does not
// answer. So it runs on a thread that nobody waits for: a question can be given up at any moment,
// and a process ends without its answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proto/base/result.h"
#include "proto/transport/sockets.h"

namespace firn::proto::transport {

// The best one first, as the system sorts them; at least one.
using Addresses = std::vector<SocketAddress>;

class NameQuestion {
 public:
  // Called once, on a thread of the resolver. Errors: kUnreachable (no such name, no name server),
  // kBusy (no thread for it).
  using Answer = std::function<void(Result<Addresses>)>;

  NameQuestion(std::string host, std::uint16_t port, Answer answer);
  // Gives up: no answer begins from now on, and one that has begun is over. Not from within it.
  ~NameQuestion();
  NameQuestion(const NameQuestion&) = delete;
  NameQuestion& operator=(const NameQuestion&) = delete;

 private:
  friend class Resolver;
  struct Shared;  // with the resolver
  const std::shared_ptr<Shared> shared_;
};

// Waits for the answer, but not for longer. Errors: also kUnreachable for that.
Result<Addresses> look_up(const std::string& host, std::uint16_t port,
                          std::chrono::milliseconds within);

// The end of main(). Where a look-up that was given up still runs, exit() would take apart what it
// uses: then what C streams hold is written, and the process ends at once.
[[nodiscard]] int end_process(int code);

}  // namespace firn::proto::transport
