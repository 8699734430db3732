#include "proto/base/base64url.h"

#include <openssl/evp.h>

#include <algorithm>

namespace firn {
namespace {

const unsigned char* octets_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* octets_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace

std::string base64url_encode(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL ends it with a zero
  EVP_EncodeBlock(octets_of(text), octets_of(bytes), static_cast<int>(bytes.size()));
  text.resize((bytes.size() * 4 + 2) / 3);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::optional<std::string> base64url_decode(std::string_view text) {
  std::string padded(text);
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  padded.resize((text.size() + 3) / 4 * 4, '=');
  std::string bytes(padded.size() / 4 * 3, '\0');
  if (EVP_DecodeBlock(octets_of(bytes), octets_of(padded), static_cast<int>(padded.size())) < 0)
    return std::nullopt;
  bytes.resize(text.size() * 3 / 4);
  // OpenSSL also takes spaces around the text, '+', '/', and any bits behind the last byte.
  if (base64url_encode(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace firn
