// Settings; see settings.h.
#include "tracker/app/settings.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "proto/base/commit.h"
#include "proto/program/usage.h"

namespace firn::tracker {
namespace {

constexpr const char* kFooter =
    "ADDR is HOST[:PORT], IPv6 in brackets; without a port it is 4711; an empty host or *\n"
    "listens on all addresses.\n"
    "The first line on standard output is `listening on ID@HOST:PORT`; each further --listen\n"
    "has a line like it.\n\n"
    "Exit codes: 0 stopped by a signal, 1 internal error, 2 wrong usage,\n"
    "3 port in use, 4 data folder, key, log or standard output not usable.";

void add_log_options(CLI::App& app, Settings& settings, bool& verbose) {
  app.add_flag("-v,--verbose", verbose, "log every request: --log-level debug")
      ->configurable(false);  // a file says log-level, which the command line's then replaces
  app.add_option("--log", settings.log_file, "append the log to FILE instead of standard error")
      ->type_name("FILE")
      ->check(not_empty());
  app.add_option("--log-level", settings.log_level,
                 "how much is logged: debug, info, warning or error")
      ->option_text("LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}).description(""))
      ->capture_default_str();
}

void add_list_options(CLI::App& app, Settings& settings) {
  app.add_option("--publishers", settings.publishers,
                 "serve only contents that a key of this list has signed; read again on SIGHUP")
      ->type_name("FILE")
      ->check(not_empty());
  app.add_option("--closed", settings.closed,
                 "serve only the contents of this list (with --publishers: theirs too); read again "
                 "on SIGHUP")
      ->type_name("FILE")
      ->check(not_empty());
  const auto add_limit = [&app](const char* name, std::uint64_t& limit, const char* help) {
    app.add_option(name, limit, help)->check(between(0, 1'000'000'000))->capture_default_str();
  };
  add_limit(
      "--publisher-contents", settings.of_publishers.contents,
      "contents of a listed publisher at most, where its line says nothing else; 0: no bound");
  add_limit("--publisher-manifest-kib", settings.publisher_manifests_kib,
            "KiB of its manifests at most, likewise");
  add_limit("--publisher-peers", settings.of_publishers.peers,
            "peers over all its contents at most, likewise");
}

void add_service_options(CLI::App& app, Settings& settings) {
  app.add_option("--drain", settings.drain_seconds,
                 "seconds from SIGTERM to the end, in which open connections are served and new "
                 "ones closed; a second signal ends it at once")
      ->check(between(0, 3600))
      ->capture_default_str();
  app.add_option("--status", settings.status, "serve a page of swarms, peers and announces")
      ->type_name("HOST:PORT")
      ->check(not_empty());
  app.add_option("--token-file", settings.token_file,
                 "the page's token (default: DIR/http-token; made if missing)")
      ->type_name("FILE")
      ->check(not_empty());
}

void add_redis_options(CLI::App& app, Settings& settings) {
  app.add_option("--redis", settings.redis,
                 "share swarms and manifests with other trackers: redis://HOST:PORT/DATABASE, "
                 "rediss:// over TLS, or unix:///PATH")
      ->type_name("URL")
      ->check(not_empty());
  app.add_option("--redis-password-file", settings.redis_password_file,
                 "its password (default: FIRN_REDIS_PASSWORD, or that of the URL)")
      ->type_name("FILE")
      ->check(not_empty());
  app.add_option("--redis-ca", settings.redis_ca,
                 "certificates to believe of rediss:// (default: the system's)")
      ->type_name("FILE")
      ->check(not_empty());
  app.add_option("--redis-prefix", settings.redis_prefix, "what the names of all keys begin with")
      ->option_text("TEXT")
      ->check(not_empty())
      ->capture_default_str();
  app.add_option("--redis-timeout", settings.redis_timeout_seconds,
                 "seconds without an answer after which Redis counts as lost")
      ->check(between(1, 60))
      ->capture_default_str();
}

void add_listen_options(CLI::App& app, Settings& settings) {
  app.add_option("--listen", settings.listen, "where to accept connections (repeatable)")
      ->type_name("ADDR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->default_str(settings.listen.front());
  app.add_option(
         "--proxy-protocol", settings.proxies,
         "addresses (ADDRESS or ADDRESS/BITS) of proxies, which must send a PROXY header of "
         "version 2 before each connection; others may not (repeatable)")
      ->type_name("FROM")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_options(CLI::App& app, Settings& settings, bool& verbose) {
  app.set_version_flag("--version", "firn-tracker " + version_text(FIRN_VERSION));
  app.footer(kFooter);
  add_listen_options(app, settings);
  app.add_option("--data", settings.data, "folder for database and identity; made if missing")
      ->type_name("DIR")
      ->required()
      ->check(not_empty());
  app.add_option("--identity", settings.identity,
                 "key that gives the tracker its ID (default: DIR/identity.pem; made if missing)")
      ->type_name("FILE")
      ->check(not_empty());
  app.add_option("--interval", settings.interval_seconds, "seconds between announces of a peer")
      ->check(between(1, 86400))
      ->capture_default_str();
  app.add_option("--peer-ttl", settings.peer_ttl_seconds,
                 "seconds after which a silent peer is forgotten (default: 2.5 intervals)")
      ->check(between(1, 864000));
  app.add_option("--manifests", settings.manifests_mib,
                 "MiB of manifests to host; those longest unused go first")
      ->check(between(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--contents", settings.limits.content_count_max,
                 "contents to serve at most; when full, those of large shares give way")
      ->check(between(1, 10'000'000))
      ->capture_default_str();
  app.add_option("--peers", settings.limits.peer_count_max,
                 "peers over all contents at most; when full, those of large shares give way")
      ->check(between(1, 100'000'000))
      ->capture_default_str();
  app.add_option("--peers-of-content", settings.limits.peers_per_content_max,
                 "peers of one content, likewise")
      ->check(between(1, 100'000'000))
      ->capture_default_str();
  app.add_option("--connections", settings.connections,
                 "connections at a time at most; two descriptors are needed for each")
      ->check(between(1, 200'000))
      ->capture_default_str();
  app.add_option("--io-threads", settings.io_threads,
                 "threads for connections; each has a part of the contents")
      ->check(between(1, 64))
      ->capture_default_str();
  app.add_option("--rates", settings.rates,
                 "how often a client, address or prefix may ask, as a multiple of the usual limits")
      ->check(between(0.01, 1e6))
      ->capture_default_str();
  add_list_options(app, settings);
  add_redis_options(app, settings);
  add_service_options(app, settings);
  add_log_options(app, settings, verbose);
}

void scale_rates(CoreRules& core, double factor) {
  for (Rate* rate :
       {&core.connection_rate, &core.network_rate, &core.announce_rate, &core.prefix_rate}) {
    for (std::uint64_t* one : {&rate->per_second, &rate->burst})
      *one = std::max<std::uint64_t>(static_cast<std::uint64_t>(static_cast<double>(*one) * factor),
                                     1);
  }
}

}  // namespace

const ConfigNames kConfigNames = {"tracker.toml", "FIRN_TRACKER_CONFIG"};

CommandLine::CommandLine()
    : app("Tells the peers of each content about one another, and hosts manifests.",
          "firn-tracker") {
  add_options(app, settings, verbose);
  add_config_options(app, kConfigNames);
}

void CommandLine::parse(const CommandWords& words, const std::vector<Setting>& given) {
  parse_words(app, words, given);
  if (verbose) settings.log_level = "debug";
}

Result<std::vector<Address>> addresses_of(const Settings& settings) {
  std::vector<Address> addresses;
  for (const std::string& text : settings.listen) {
    const auto parsed = parse_address(text, kDefaultPort);
    if (!parsed) return parsed.error();
    addresses.push_back(*parsed);
  }
  return addresses;
}

Result<std::vector<AddressRange>> proxies_of(const Settings& settings) {
  std::vector<AddressRange> ranges;
  for (const std::string& text : settings.proxies) {
    const auto range = AddressRange::parse(text);
    if (!range) return range.error();
    ranges.push_back(*range);
  }
  return ranges;
}

Result<ServedLists> served_lists(const Settings& settings) {
  PublisherLimits of_all = settings.of_publishers;
  of_all.manifest_bytes = settings.publisher_manifests_kib << 10;
  auto lists = read_served_lists(settings.publishers, settings.closed, of_all);
  if (lists.ok() && lists->contents && lists->contents->size() > settings.limits.content_count_max)
    return Error{ErrorCode::kBadInput, "read the list " + settings.closed,
                 "it names " + std::to_string(lists->contents->size()) +
                     " contents, and --contents lets " +
                     std::to_string(settings.limits.content_count_max) + " be served"};
  return lists;
}

std::chrono::seconds idle_timeout(const Settings& settings) {
  constexpr std::uint32_t kOftenSeconds = 300;
  if (settings.interval_seconds > kOftenSeconds) return std::chrono::seconds(30);
  return std::chrono::seconds(std::max(150u, settings.interval_seconds * 5 / 2));
}

CoreRules core_rules(const Settings& settings, ServedLists lists) {
  CoreRules rules;
  rules.interval = std::chrono::seconds(settings.interval_seconds);
  const double ttl =
      settings.peer_ttl_seconds != 0 ? settings.peer_ttl_seconds : 2.5 * settings.interval_seconds;
  rules.peer_ttl = std::chrono::seconds(static_cast<std::int64_t>(std::ceil(ttl)));
  scale_rates(rules, settings.rates);
  rules.served = std::move(lists);
  return rules;
}

}  // namespace firn::tracker
