// Options that several commands share, each defined once.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/app/console/console.h"
#include "client/app/driver/peer_driver.h"
#include "proto/base/address.h"
#include "proto/base/result.h"

namespace firn::app {

// --json, -q, -v, --log, --log-level
void add_console_options(CLI::App& app, ConsoleOptions& options);

struct NetworkOptions {
  std::vector<std::string> trackers;
  std::vector<std::string> peers;
  bool no_tracker = false;
  bool no_peer_exchange = false;
  bool dense = false;
  std::uint32_t peers_max = 0;  // 0: as the core's policy says
  std::string listen = "*:0";
  std::string interface;
  std::uint64_t up_limit = 0;  // of all contents together
  std::uint64_t down_limit = 0;
  std::uint64_t content_up_limit = 0;  // of each
  std::uint64_t content_down_limit = 0;
  std::vector<std::string> lifted;          // options that set an upload limit to 0
  std::uint64_t memory_bytes = 128u << 20;  // of the process
  std::string identity_file;
  bool profile = false;
  int io_threads = 1;
  std::string peers_interval;  // empty: never
};
// A check for CLI11: what is wrong with the text, or "".
std::string positive_duration(const std::string& text);
// Likewise, of how long to stay when complete.
std::string seeding_policy(const std::string& text);
void add_network_options(CLI::App& app, NetworkOptions& options);

// --codec and --threads
struct CodecOptions {
  std::string codec = "auto";
  unsigned threads = 0;  // 0: not said

  unsigned beside_sockets() const { return threads > 0 ? threads : peer_worker_count(); }
  // For what a command does before it has sockets: hashing what it is to share, reading a medium.
  unsigned alone() const { return threads > 0 ? threads : default_worker_count(); }
};
void add_codec_options(CLI::App& app, CodecOptions& options);

// --kernels, checked together with FIRN_KERNELS by use_kernels().
void add_kernels_option(CLI::App& app, std::string& kernels);
// Makes `name` (empty: what FIRN_KERNELS says) the kernels of this process; kBadInput if the CPU
// lacks them. Before anything is computed, and before there are threads.
Status use_kernels(const std::string& name);

// Where --listen says: without a port any free one, so that several peers fit on a machine. Errors:
// kBadInput.
Result<Address> listen_address(const NetworkOptions& options);

// Errors: kBadInput (an address).
Result<std::vector<Address>> parse_addresses(const std::vector<std::string>& texts);
Result<DriverOptions> driver_options(const NetworkOptions& options, const CodecOptions& codec,
                                     std::size_t content_count);

// The core's options for a content: trackers and peers are those given by hand, and `more_...` from
// manifest and link. Errors: kBadInput.
Result<core::Options> core_options(const NetworkOptions& options,
                                   const std::vector<Address>& more_trackers,
                                   const std::vector<Address>& more_peers);

}  // namespace firn::app
