#include "proto/content/content_secret.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>

#include "proto/base/digest.h"
#include "proto/base/plain_text.h"
#include "proto/base/result.h"
#include "proto/content/origin_url.h"

namespace firn {
namespace {

constexpr std::size_t kCheckBytes = 3;
constexpr std::size_t kCheckedBytes = ContentSecret::kBytes + kCheckBytes;
// A damaged link may lack some characters, and is hidden all the same.
constexpr std::size_t kHiddenFrom = 40;

std::array<std::uint8_t, kCheckBytes> check_of(const ContentId& content,
                                               ContentSecret::View secret) {
  constexpr std::string_view kPurpose = "firn link key v1";
  std::string message(kPurpose);
  message.append(content.raw()).append(secret.begin(), secret.end());
  const Digest digest =
      sha256({reinterpret_cast<const std::uint8_t*>(message.data()), message.size()});
  OPENSSL_cleanse(message.data(), message.size());
  std::array<std::uint8_t, kCheckBytes> check{};
  std::copy_n(digest.bytes.begin(), kCheckBytes, check.begin());
  return check;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_in_token(char c) {
  return is_word(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

// Whether the URL of an origin goes on behind `before`.
bool begins_url(std::string_view before) {
  if (!before.ends_with("://")) return false;
  const std::string scheme =
      lower_case(before.substr(before.size() - std::min<std::size_t>(before.size(), 8)));
  return scheme.ends_with("http://") || scheme.ends_with("https://") || scheme.ends_with("s3://");
}

// The length of the URL that goes on with `rest`, without marks of the sentence around it, or of
// JSON (\").
std::size_t url_bytes(std::string_view rest) {
  return rest.substr(0, rest.find_first_of(" \"\n")).find_last_not_of("':,;)\\") + 1;
}

// How much of the text that follows `before` is a secret.
std::size_t secret_bytes(std::string_view before, std::string_view rest, bool after_id) {
  const auto all = [rest](bool (*is_part)(char)) {
    return static_cast<std::size_t>(std::ranges::find_if_not(rest, is_part) - rest.begin());
  };
  if (before.ends_with("#token=")) return all(is_in_token);
  if (before.ends_with("redis://") || before.ends_with("rediss://") ||
      before.ends_with("unix://")) {
    const std::size_t end = rest.rfind('@');  // a password may have another one
    return end == std::string_view::npos ? 0 : end;
  }
  if (begins_url(before)) {
    const std::size_t end = rest.substr(0, rest.find_first_of("/?# \"\n")).rfind('@');
    return end == std::string_view::npos ? 0 : end;
  }
  return after_id && all(is_word) >= kHiddenFrom ? all(is_word) : 0;
}

}  // namespace

ContentSecret::ContentSecret(View bytes) {
  std::ranges::copy(bytes, bytes_.begin());
}

ContentSecret::~ContentSecret() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

ContentSecret ContentSecret::generate() {
  ContentSecret secret{View(std::array<std::uint8_t, kBytes>{})};
  FIRN_CHECK(RAND_priv_bytes(secret.bytes_.data(), static_cast<int>(kBytes)) == 1);
  return secret;
}

std::optional<ContentSecret> ContentSecret::from_text(std::string_view text,
                                                      const ContentId& content) {
  std::array<std::uint8_t, kCheckedBytes> checked{};
  if (!base32_decode(text, checked)) return std::nullopt;
  const ContentSecret secret{View(checked.data(), kBytes)};
  const bool whole =
      std::ranges::equal(check_of(content, secret.bytes()), std::span(checked).subspan<kBytes>());
  OPENSSL_cleanse(checked.data(), checked.size());
  if (!whole) return std::nullopt;
  return secret;
}

std::string ContentSecret::text(const ContentId& content) const {
  std::array<std::uint8_t, kCheckedBytes> checked{};
  std::ranges::copy(bytes_, checked.begin());
  std::ranges::copy(check_of(content, bytes_), checked.begin() + kBytes);
  std::string text = base32_encode(checked);
  OPENSSL_cleanse(checked.data(), checked.size());
  return text;
}

std::string without_secrets(std::string_view text) {
  std::string shown;
  std::size_t before = 0;   // of word characters, up to where we are
  std::size_t url_end = 0;  // of the last URL
  for (std::size_t at = 0; at < text.size();) {
    const bool after_id = text[at] == '.' && before >= kHiddenFrom;
    before = is_word(text[at]) ? before + 1 : 0;
    shown += text[at++];
    if (begins_url(text.substr(0, at))) url_end = at + url_bytes(text.substr(at));
    if (shown.back() == '?' && at < url_end) {
      const std::string_view query = text.substr(at, std::min(text.find('#', at), url_end) - at);
      shown += shown_query(query);
      at += query.size();
      continue;
    }
    const std::size_t secret = secret_bytes(text.substr(0, at), text.substr(at), after_id);
    shown.append(std::min<std::size_t>(secret, 3), '.');
    at += secret;
  }
  return shown;
}

}  // namespace firn
