// The secret of a private content: 32 random bytes that its link carries. Peers that know it find
// each other and prove it to one another (docs/protocol.md, "Private contents"); it is never sent.
// It is wiped at the end of its life. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proto/base/ids.h"

namespace firn {

class ContentSecret {
 public:
  static constexpr std::size_t kBytes = 32;
  using View = std::span<const std::uint8_t, kBytes>;

  static ContentSecret generate();
  explicit ContentSecret(View bytes);
  ~ContentSecret();
  ContentSecret(const ContentSecret&) = default;
  ContentSecret& operator=(const ContentSecret&) = default;

  // As a link has it, read in either case: base32 of the secret and 3 bytes of check sum over the
  // content id and the secret, so that a damaged link is told. nullopt if they do not fit.
  static std::optional<ContentSecret> from_text(std::string_view text, const ContentId& content);
  std::string text(const ContentId& content) const;

  View bytes() const { return bytes_; }
  bool operator==(const ContentSecret&) const = default;

 private:
  std::array<std::uint8_t, kBytes> bytes_{};
};

// The text with dots in place of what looks like the secret in a link, the token behind the address
// of a page (`#token=`), user and password in the URL of an origin or a Redis server, or the values
// in an origin's query: for logs and errors, which may repeat what a person typed, and for ps.
std::string without_secrets(std::string_view text);

}  // namespace firn
