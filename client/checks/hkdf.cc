#include "client/checks/hkdf.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <memory>

#include "proto/base/result.h"

namespace firn::checks {
namespace {

struct FreeContext {
  void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
};

// Fetched once: a fetch costs more than the rest. OpenSSL has it unless it is installed broken.
EVP_KDF* hkdf_method() {
  static EVP_KDF* const method = EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  FIRN_CHECK(method != nullptr);
  return method;
}

// OpenSSL takes what it only reads as void*.
OSSL_PARAM octets(const char* name, const void* bytes, std::size_t count) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<void*>(bytes), count);
}

}  // namespace

void hkdf_sha256(SecretView secret, const ContentId& salt, std::string_view info,
                 std::span<std::uint8_t> out) {
  const std::unique_ptr<EVP_KDF_CTX, FreeContext> context(EVP_KDF_CTX_new(hkdf_method()));
  FIRN_CHECK(context != nullptr);
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      octets(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
      octets(OSSL_KDF_PARAM_SALT, salt.bytes.data(), salt.bytes.size()),
      octets(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
      OSSL_PARAM_construct_end(),
  };
  FIRN_CHECK(EVP_KDF_derive(context.get(), out.data(), out.size(), parameters) == 1);
}

}  // namespace firn::checks
