#include "client/app/commands/options/until_option.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "client/app/console/quantities.h"
#include "proto/program/input_file.h"
#include "proto/program/usage.h"
#include "proto/transport/name_question.h"

namespace firn::app {
namespace {

constexpr std::string_view kAllOf = "all-of:";
constexpr std::size_t kListBytesMax = 1u << 20;
constexpr std::chrono::seconds kNameTime{10};  // for one name

Result<std::vector<std::string>> hosts_of(const std::string& list) {
  if (list.starts_with('@')) return read_input_lines(list.substr(1), kListBytesMax);
  return CLI::detail::split(list, ',');
}

Result<std::set<std::string>> addresses_of(const std::string& host) {
  const auto found = proto::transport::look_up(host, 0, kNameTime);
  if (!found.ok()) return found.error();
  std::set<std::string> addresses;
  for (const auto& address : *found) addresses.insert(address.ip());
  return addresses;
}

Result<core::SeedPolicy> all_of(const std::string& list) {
  const auto hosts = hosts_of(list);
  if (!hosts.ok()) return hosts.error();
  const auto bad = [&](const std::string& why) {
    return Error{ErrorCode::kBadInput, "--until " + std::string(kAllOf) + list, why};
  };
  if (hosts->empty() || std::ranges::find(*hosts, "") != hosts->end())
    return bad("expected hosts, separated by commas, or @ and a file that names one on each line");
  core::SeedPolicy policy;
  policy.kind = core::SeedPolicy::Kind::kReceived;
  for (const std::string& host : *hosts) {
    auto addresses = addresses_of(host);
    if (!addresses.ok()) return addresses.error();
    policy.awaited.push_back(*std::move(addresses));
  }
  return policy;
}

}  // namespace

CLI::Option* add_until_option(CLI::App& app, std::string& until) {
  return app
      .add_option("--until", until,
                  "end once N receivers have everything, once each of these hosts has "
                  "(all-of:HOST,HOST or all-of:@FILE, a line each), once nobody has fetched "
                  "anything for a time (idle:10m), or as get --seed (30m)")
      ->option_text("N|all-of:LIST|idle:DURATION")
      ->check(not_empty());
}

Result<core::SeedPolicy> read_until(const std::string& until) {
  if (until.empty()) return parse_seed_policy("forever");
  if (until.starts_with(kAllOf)) return all_of(until.substr(kAllOf.size()));
  const bool number = std::ranges::all_of(until, [](char c) { return c >= '0' && c <= '9'; });
  return parse_seed_policy(number ? "receivers:" + until : until, "--until");
}

}  // namespace firn::app
