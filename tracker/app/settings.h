// The tracker's options: their values, the command line and configuration that give them, and what
// the server takes from them.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/base/address.h"
#include "proto/base/address_range.h"
#include "proto/base/result.h"
#include "proto/program/configuration.h"
#include "tracker/announce_core.h"
#include "tracker/app_lists.h"
#include "tracker/registry.h"

namespace firn::tracker {

struct Settings {
  std::vector<std::string> listen = {"*:" + std::to_string(kDefaultPort)};
  std::vector<std::string> proxies;  // ranges of addresses
  std::string data;
  std::string identity;
  std::string log_file;
  std::string log_level = "info";
  std::uint32_t interval_seconds = 60;
  std::uint32_t peer_ttl_seconds = 0;  // 0: 2.5 intervals
  std::uint64_t manifests_mib = 1024;
  RegistryLimits limits;  // over all threads
  std::size_t connections = 4096;
  std::size_t io_threads = 1;
  double rates = 1;
  std::string publishers;  // lists; empty: none
  std::string closed;
  PublisherLimits of_publishers;  // whose lines say nothing else
  std::uint64_t publisher_manifests_kib = 0;
  std::string status;      // where its page is; empty: nowhere
  std::string token_file;  // of that page; empty: in the data folder
  int drain_seconds = 0;   // from the first signal to the end
  std::string redis;       // where swarms are shared with other trackers; empty: nowhere
  std::string redis_password_file;
  std::string redis_ca;
  std::string redis_prefix = "firn:";
  std::uint32_t redis_timeout_seconds = 2;
};

extern const ConfigNames kConfigNames;

struct CommandLine {
  CommandLine();
  // Of words and settings for `app`. Throws CLI::ParseError.
  void parse(const CommandWords& words, const std::vector<Setting>& given);

  CLI::App app;
  Settings settings;
  bool verbose = false;
};

// Errors: kBadInput.
Result<std::vector<Address>> addresses_of(const Settings& settings);

// Errors: kBadInput.
Result<std::vector<AddressRange>> proxies_of(const Settings& settings);

// Errors: as read_served_lists; kBadInput (more contents than are to be served).
Result<ServedLists> served_lists(const Settings& settings);

// How long a connection is kept on which nothing comes. Where peers announce themselves often it
// lasts from one announce to the next, elsewhere it costs more than another handshake.
std::chrono::seconds idle_timeout(const Settings& settings);

CoreRules core_rules(const Settings& settings, ServedLists lists);

}  // namespace firn::tracker
