#include "tracker/app/sharing.h"

#include <cstdlib>
#include <random>
#include <utility>

#include "proto/program/input_file.h"

namespace firn::tracker {
namespace {

constexpr std::size_t kPasswordBytesMax = 1024;

// A command line can be read by other users: a file or the environment goes before it.
Result<std::string> password_of(const Settings& settings, const RedisAddress& address) {
  if (!settings.redis_password_file.empty()) {
    auto read = read_input_file(settings.redis_password_file, kPasswordBytesMax);
    if (!read) return read.error();
    std::string password = read->substr(0, read->find_first_of("\r\n"));
    if (password.empty())
      return Error{ErrorCode::kBadInput, "read the file " + settings.redis_password_file,
                   "its first line is to be a password"};
    return password;
  }
  const char* const given = std::getenv("FIRN_REDIS_PASSWORD");
  return given != nullptr && *given != '\0' ? std::string(given) : address.password;
}

std::string name_of_its_own() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::random_device random;
  std::string name;
  for (int i = 0; i < 32; ++i) name += kDigits[random() % 16];
  return name;
}

}  // namespace

Result<Sharing> Sharing::of(const Settings& settings) {
  Sharing sharing;
  if (settings.redis.empty()) return sharing;
  RedisOptions options;
  auto address = parse_redis_address(settings.redis);
  if (!address) return address.error();
  auto password = password_of(settings, *address);
  if (!password) return password.error();
  options.address = *std::move(address);
  options.address.password = *std::move(password);
  options.ca_file = settings.redis_ca;
  options.timeout = std::chrono::milliseconds(settings.redis_timeout_seconds * 1000);
  options.key_prefix = settings.redis_prefix;
  if (!is_key_prefix(options.key_prefix))
    return Error{ErrorCode::kBadInput, "use --redis-prefix " + options.key_prefix,
                 "it may have up to 64 letters, digits, and : . _ -"};
  if (Status right = check_redis_options(options); !right) return right.error();
  sharing.options_ = std::move(options);
  return sharing;
}

Registries Sharing::wrap(Registries below, Time opened) {
  if (!options_) return below;
  post_ = std::make_unique<Post>(below.size());
  Registries shared;
  for (auto& registry : below)
    shared.push_back(
        std::make_unique<RedisRegistry>(std::move(registry), *post_, shared.size(), opened));
  return shared;
}

Status Sharing::begin(std::function<Time()> clock,
                      std::function<void(bool, const std::string&)> log) {
  if (!options_) return Done{};
  auto link = RedisLink::start(
      *post_, LinkOptions{*options_, name_of_its_own(), std::move(clock), std::move(log)});
  if (!link) return link.error();
  link_ = *std::move(link);
  return Done{};
}

}  // namespace firn::tracker
