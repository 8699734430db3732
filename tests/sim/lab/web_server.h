// An origin: a web server that has the content. All runs that are asked of it share its uplink
// equally, as connections to one server do about. It is no peer, and what it sends is no load on
// its peers' downlinks.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "client/core/base/actions.h"
#include "client/core/base/types.h"

namespace firn::sim {

class WebServer {
 public:
  // `up`: bytes a second; `generation_bytes`: all generations have as many.
  WebServer(double up, double generation_bytes) : up_(up), generation_bytes_(generation_bytes) {}

  void ask(std::uint32_t peer, const core::FetchFromOrigin& run, core::TimeUs now);
  // Peers and their generations that have left since.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> served(core::TimeUs now);
  // When the next one leaves; kNever: nothing is asked for.
  core::TimeUs next() const;
  // It dies: the same, of what will not leave.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> fail(core::TimeUs now);

  double bytes_sent() const { return sent_; }

 private:
  struct Transfer {
    std::uint32_t peer = 0, next = 0, end = 0;
    double left = 0;  // of `next`, bytes
  };
  void advance(core::TimeUs now);

  const double up_, generation_bytes_;
  core::TimeUs now_ = 0;
  double sent_ = 0;
  std::vector<Transfer> transfers_;
};

}  // namespace firn::sim
