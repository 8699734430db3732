#include "client/checks/set_key.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <climits>
#include <memory>

#include "proto/base/result.h"

namespace firn::checks {
namespace {

struct FreeOpenssl {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

// Fetched once: a fetch costs more than the rest. OpenSSL has it unless it is installed broken.
const EVP_CIPHER* stream_method() {
  static EVP_CIPHER* const method = EVP_CIPHER_fetch(nullptr, "AES-256-CTR", nullptr);
  FIRN_CHECK(method != nullptr);
  return method;
}

}  // namespace

SetKey::SetKey(SecretView bytes) {
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

SetKey::~SetKey() {
  codec::wipe(bytes_.data(), bytes_.size());
}

SetKey SetKey::draw() {
  SetKey key;
  FIRN_CHECK(RAND_priv_bytes(key.bytes_.data(), static_cast<int>(key.bytes_.size())) == 1);
  return key;
}

codec::SecretVector<std::uint8_t> SetKey::material(std::uint64_t generation,
                                                   std::size_t block_bytes,
                                                   std::size_t tag_bytes) const {
  std::array<std::uint8_t, 16> first_counter{};
  for (unsigned i = 0; i < 8; ++i) {
    first_counter[i] = static_cast<std::uint8_t>(generation >> (56 - 8 * i));
  }
  const std::size_t count = codec::CheckKey::material_bytes(block_bytes, tag_bytes);
  FIRN_CHECK(count <= INT_MAX);
  codec::SecretVector<std::uint8_t> stream(count);  // of zeros, which become the key stream
  const std::unique_ptr<EVP_CIPHER_CTX, FreeOpenssl> context(EVP_CIPHER_CTX_new());
  FIRN_CHECK(context != nullptr);
  FIRN_CHECK(EVP_EncryptInit_ex2(context.get(), stream_method(), bytes_.data(),
                                 first_counter.data(), nullptr) == 1);
  int written = 0;
  FIRN_CHECK(EVP_EncryptUpdate(context.get(), stream.data(), &written, stream.data(),
                               static_cast<int>(count)) == 1);
  FIRN_CHECK(static_cast<std::size_t>(written) == count);
  return stream;
}

codec::CheckKey SetKey::generation_key(std::uint64_t generation, std::size_t block_bytes,
                                       std::size_t tag_bytes) const {
  return {block_bytes, tag_bytes, material(generation, block_bytes, tag_bytes)};
}

}  // namespace firn::checks
