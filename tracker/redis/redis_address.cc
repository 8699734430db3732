#include "tracker/redis/redis_address.h"

#include <charconv>
#include <optional>

#include "proto/base/address.h"

namespace firn::tracker {
namespace {

constexpr std::size_t kBytesMax = 1024;
constexpr std::uint32_t kDatabaseMax = 1'000'000;

Error wrong(const char* what) {
  return {ErrorCode::kBadInput, "read the address of Redis",
          std::string(what) + "; write it as redis://:PASSWORD@HOST:PORT/DATABASE"};
}

std::optional<std::string> decoded(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    unsigned value = 0;
    const char* const end = text.data() + i + 3;
    const auto [stop, error] = std::from_chars(text.data() + i + 1, end, value, 16);
    if (error != std::errc() || stop != end) return std::nullopt;
    bytes += static_cast<char>(value);
    i += 2;
  }
  return bytes;
}

bool read_database(std::string_view text, std::uint32_t& database) {
  if (text.empty()) return true;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, database);
  return error == std::errc() && stop == end && database <= kDatabaseMax;
}

// USER:PASSWORD, :PASSWORD or, as other programs take it too, PASSWORD alone.
bool read_credentials(std::string_view text, RedisAddress& address) {
  const std::size_t colon = text.find(':');
  const auto user =
      decoded(colon == std::string_view::npos ? std::string_view() : text.substr(0, colon));
  const auto password = decoded(colon == std::string_view::npos ? text : text.substr(colon + 1));
  if (!user || !password || password->empty()) return false;
  address.user = *user;
  address.password = *password;
  return true;
}

bool take_start(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

}  // namespace

Result<RedisAddress> parse_redis_address(std::string_view text) {
  RedisAddress address;
  if (text.size() > kBytesMax) return wrong("it is too long");
  if (take_start(text, "unix://")) {
    const std::size_t at = text.substr(0, text.find('/')).rfind('@');
    if (at != std::string_view::npos) {
      if (!read_credentials(text.substr(0, at), address))
        return wrong("its password is not well formed");
      text.remove_prefix(at + 1);
    }
    const std::size_t question = text.find('?');
    address.path = text.substr(0, question);
    if (question != std::string_view::npos &&
        !read_database(text.substr(question + 1), address.database))
      return wrong("its database is no number");
    if (!address.path.starts_with('/'))
      return wrong("the path of its socket does not begin with /");
    return address;
  }
  address.tls = text.starts_with("rediss://");
  if (!take_start(text, "rediss://") && !take_start(text, "redis://"))
    return wrong("it does not begin with redis://, rediss:// or unix://");
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    if (!read_credentials(text.substr(0, at), address))
      return wrong("its password is not well formed");
    text.remove_prefix(at + 1);
  }
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    if (!read_database(text.substr(slash + 1), address.database))
      return wrong("its database is no number");
    text = text.substr(0, slash);
  }
  const auto where = parse_address(text, address.port);
  if (!where || where->id || !is_destination(*where)) return wrong("it names no host and port");
  address.host = where->host;
  address.port = where->port;
  return address;
}

std::string to_text(const RedisAddress& address) {
  if (address.host.empty()) return address.path;
  return to_text(Address{std::nullopt, address.host, address.port});
}

}  // namespace firn::tracker
