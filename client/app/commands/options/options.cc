#include "client/app/commands/options/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "client/app/commands/options/bytes_option.h"
#include "client/app/console/quantities.h"
#include "client/app/version.h"
#include "codec/kernels.h"
#include "proto/program/memory_limit.h"
#include "proto/program/usage.h"
#include "proto/transport/descriptors.h"

namespace firn::app {
namespace {

// An address with an id knows more than the same one without.
void add_address(std::vector<Address>& addresses, const Address& address) {
  for (Address& known : addresses) {
    if (known.host != address.host || known.port != address.port) continue;
    if (known.id && address.id && *known.id != *address.id) continue;
    if (!known.id) known.id = address.id;
    return;
  }
  addresses.push_back(address);
}

constexpr const char* kNetworkGroup = "Network";

// The peers and trackers that this peer looks for.
void add_neighbour_options(CLI::App& app, NetworkOptions& options) {
  const auto add_addresses = [&app](const char* name, std::vector<std::string>& addresses,
                                    const char* description) {
    app.add_option(name, addresses, description)->option_text("ADDR")->group(kNetworkGroup);
  };
  add_addresses("--tracker", options.trackers, "a tracker, [ID@]HOST[:PORT] (repeatable)");
  add_addresses("--peer", options.peers, "a peer to connect to, [ID@]HOST[:PORT] (repeatable)");
  app.add_flag("--no-tracker", options.no_tracker, "use no tracker, not even those of the link")
      ->group(kNetworkGroup);
  app.add_flag("--no-pex", options.no_peer_exchange, "do not tell peers of other peers")
      ->group(kNetworkGroup);
}

// Where this peer stands in the network.
void add_own_address_options(CLI::App& app, NetworkOptions& options) {
  app.add_option("--listen", options.listen,
                 "address to accept peers on; * means all addresses, no port or 0 any free port. "
                 "With a single address, connections to peers and trackers also go out from it")
      ->option_text("HOST[:PORT]")
      ->capture_default_str()
      ->group(kNetworkGroup);
  app.add_option(
         "--interface", options.interface,
         "use only this network interface, for peers that connect and for connections to peers and "
         "trackers")
      ->option_text("NAME")
      ->group(kNetworkGroup);
}

// Within a container's limit, half of which is for the system's buffers of its files and sockets.
std::uint64_t default_memory_bytes() {
  constexpr std::uint64_t kUsual = 128u << 20, kLeast = 16u << 20;
  return std::clamp(memory_limit().value_or(2 * kUsual) / 2, kLeast, kUsual);
}

// Bandwidth and memory.
void add_limit_options(CLI::App& app, NetworkOptions& options) {
  const auto add_limit = [&app](const char* name, std::uint64_t& rate, const char* description) {
    return add_rate_option(app, name, rate, description)->group(kNetworkGroup);
  };
  const auto note_zero = [&options](const char* name) {
    return [&options, name](const std::string& digits) {
      if (digits == "0") options.lifted.emplace_back(name);
    };
  };
  add_limit("--up-limit", options.up_limit,
            "bytes per second sent to peers at most, all contents together (10M or 80Mbit); "
            "0: no limit")
      ->each(note_zero("--up-limit"));
  add_limit("--down-limit", options.down_limit,
            "bytes per second received from peers at most, all contents together; 0: no limit");
  add_limit("--content-up-limit", options.content_up_limit,
            "bytes per second sent at most for each content; 0: no limit")
      ->each(note_zero("--content-up-limit"));
  add_limit("--content-down-limit", options.content_down_limit,
            "bytes per second received at most for each content; 0: no limit");
  options.memory_bytes = default_memory_bytes();
  add_bytes_option(app, "--memory", options.memory_bytes,
                   "about how much memory the process may use (default 128M, or half of what its "
                   "control group allows)")
      ->group(kNetworkGroup)
      ->check(between(std::uint64_t{16} << 20, std::uint64_t{1} << 40, "at least 16M"));
}

// How the process takes part.
void add_run_options(CLI::App& app, NetworkOptions& options) {
  app.add_option(
         "--identity", options.identity_file,
         "keep this peer's key, which links name with its address, in FILE (default: a fresh one "
         "for each run; of daemon: one in its data folder)")
      ->option_text("FILE")
      ->check(not_empty())
      ->group(kNetworkGroup);
  app.add_option("--max-peers", options.peers_max, "peers connected at most, for each content")
      ->option_text("N")
      ->check(between(1, 20000))
      ->group(kNetworkGroup);
  app.add_option(
         "--peers", options.peers_interval,
         "print the table of connected peers at this interval (10s); SIGUSR1 prints it at any time")
      ->option_text("DURATION")
      ->check(positive_duration)
      ->group(kNetworkGroup);
  app.add_flag("--dense", options.dense, "send only coded blocks, never uncoded source blocks")
      ->group(kNetworkGroup);
  app.add_flag("--profile", options.profile,
               "say at the end where processor time went, by stage of the work")
      ->group(kNetworkGroup);
  app.add_option("--io-threads", options.io_threads, "threads for sockets and TLS")
      ->option_text("N")
      ->check(between(1, 64))
      ->capture_default_str()
      ->group(kNetworkGroup);
}

}  // namespace

void add_console_options(CLI::App& app, ConsoleOptions& options) {
  app.add_flag("--json", options.json, "events as JSON on stdout, one object per line");
  app.add_flag("-q,--quiet", options.quiet, "print errors only");
  app.add_flag("-v,--verbose", options.verbosity, "print debug messages too");
  app.add_option("--log", options.log_file, "append messages to FILE, with the time")
      ->option_text("FILE")
      ->check(not_empty());
  app.add_option("--log-level", options.log_level,
                 "least severe messages for the log: debug, info, warning or error")
      ->option_text("LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}).description(""))
      ->capture_default_str();
}

std::string positive_duration(const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration.ok()) return duration.error().message();
  return *duration > 0 ? "" : "must be longer than nothing";
}

std::string seeding_policy(const std::string& text) {
  const auto policy = parse_seed_policy(text);
  return policy.ok() ? "" : policy.error().message();
}

void add_network_options(CLI::App& app, NetworkOptions& options) {
  add_neighbour_options(app, options);
  add_own_address_options(app, options);
  add_limit_options(app, options);
  add_run_options(app, options);
}

void add_codec_options(CLI::App& app, CodecOptions& options) {
  app.add_option("--codec", options.codec,
                 "processors that code: cpu, gpu, or auto (both, shared by measured rates)")
      ->option_text("auto|cpu|gpu")
      ->check(CLI::IsMember({"auto", "cpu", "gpu"}).description(""))
      ->capture_default_str();
  app.add_option("--threads", options.threads,
                 "threads for coding, hashing and disk; default: one for each core, at most 8 "
                 "beside sockets")
      ->option_text("N")
      ->check(between(1, 1024));
}

void add_kernels_option(CLI::App& app, std::string& kernels) {
  app.add_option("--kernels", kernels, "coding kernels to use (firn doctor lists them)")
      ->option_text("NAME");
}

Status use_kernels(const std::string& name) {
  const char* const variable = std::getenv("FIRN_KERNELS");
  const std::string wanted = !name.empty() ? name : variable != nullptr ? variable : "";
  if (wanted.empty()) return Done{};
  if (codec::find_kernels(wanted) == nullptr) {
    std::string known;
    for (const codec::Kernels* kernels : codec::available_kernels())
      known += (known.empty() ? "" : ", ") + std::string(kernels->name);
    return Error{ErrorCode::kBadInput, fmt::format("use kernels '{}'", wanted),
                 "this CPU does not have them; it has " + known};
  }
  // The choice of the whole process is made from the environment, on first use.
  setenv("FIRN_KERNELS", wanted.c_str(), 1);
  return Done{};
}

Result<std::vector<Address>> parse_addresses(const std::vector<std::string>& texts) {
  std::vector<Address> addresses;
  for (const std::string& text : texts) {
    auto address = parse_address(text, kDefaultPort);
    if (!address.ok()) return address.error();
    if (!is_destination(*address))
      return Error{ErrorCode::kBadInput, "address '" + text + "'",
                   "names no host and port to connect to; write [ID@]HOST or [ID@]HOST:PORT"};
    add_address(addresses, *address);
  }
  return addresses;
}

Result<Address> listen_address(const NetworkOptions& options) {
  return parse_address(options.listen, 0);
}

namespace {

// Beyond this number of peers more descriptors are asked for than any process gets.
constexpr std::uint32_t kUsualPeers = 2048;

Status make_room_for_peers(std::uint32_t peers_max) {
  if (peers_max <= kUsualPeers) return Done{};
  return proto::transport::make_room_for_connections(connections_for(peers_max),
                                                     "--max-peers " + std::to_string(peers_max));
}

}  // namespace

Result<DriverOptions> driver_options(const NetworkOptions& options, const CodecOptions& codec,
                                     std::size_t content_count) {
  auto listen = listen_address(options);
  if (!listen.ok()) return listen.error();
  if (const Status room = make_room_for_peers(options.peers_max); !room.ok()) return room.error();
  DriverOptions driver;
  driver.connections_max = connections_for(options.peers_max);
  driver.identity_file = options.identity_file;
  driver.listen = *listen;
  driver.interface = options.interface;
  driver.profile = options.profile;
  driver.up_limit = options.up_limit;
  driver.down_limit = options.down_limit;
  driver.memory_bytes = memory_for_data(options.memory_bytes);
  driver.io_threads = options.io_threads;
  if (!options.peers_interval.empty()) {
    const auto interval = parse_duration(options.peers_interval);
    if (!interval.ok()) return interval.error();
    driver.peers_interval = *interval;
  }
  driver.content_count = content_count;
  driver.codec = *parse_codec_mode(codec.codec);
  driver.threads = codec.beside_sockets();
  return driver;
}

Result<core::Options> core_options(const NetworkOptions& options,
                                   const std::vector<Address>& more_trackers,
                                   const std::vector<Address>& more_peers) {
  auto trackers = parse_addresses(options.trackers);
  if (!trackers.ok()) return trackers.error();
  auto peers = parse_addresses(options.peers);
  if (!peers.ok()) return peers.error();
  for (const Address& address : more_trackers) add_address(*trackers, address);
  for (const Address& address : more_peers) add_address(*peers, address);
  core::Options core;
  core.agent = std::string("firn/") + kVersion;
  if (!options.no_tracker) core.trackers = *trackers;
  core.peers = *peers;
  core.peer_exchange = !options.no_peer_exchange;
  core.dense = options.dense;
  core.neighbours_max = options.peers_max;
  core.up_limit = options.content_up_limit;
  core.down_limit = options.content_down_limit;
  return core;
}

}  // namespace firn::app
