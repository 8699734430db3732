#include "proto/transport/identity.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <array>
#include <utility>

#include "proto/base/public_key.h"
#include "proto/base/signing_key.h"
#include "proto/program/input_file.h"
#include "proto/program/key_file.h"
#include "proto/transport/identity_impl.h"

namespace firn::proto::transport {
namespace {

constexpr std::size_t kKeyFileBytesMax = 64 << 10;

Error internal(std::string operation) {
  ERR_clear_error();
  return {ErrorCode::kInternal, std::move(operation), "OpenSSL refused"};
}

// A certificate that says nothing but its key: the key is the identity, so names and dates carry no
// meaning and are not checked (RFC 5280, 4.1.2.5: the last date is "no expiry").
Result<X509Ptr> self_signed_certificate(EVP_PKEY* key) {
  X509Ptr certificate(X509_new());
  if (!certificate) return internal("make certificate");
  X509* x = certificate.get();
  X509_NAME* name = X509_get_subject_name(x);
  const auto* common_name = reinterpret_cast<const unsigned char*>("firn");
  const bool made =
      X509_set_version(x, X509_VERSION_3) && ASN1_INTEGER_set(X509_get_serialNumber(x), 1) &&
      ASN1_TIME_set_string(X509_getm_notBefore(x), "20200101000000Z") &&
      ASN1_TIME_set_string(X509_getm_notAfter(x), "99991231235959Z") &&
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common_name, -1, -1, 0) &&
      X509_set_issuer_name(x, name) && X509_set_pubkey(x, key) && X509_sign(x, key, nullptr) > 0;
  if (!made) return internal("make certificate");
  return certificate;
}

Result<std::shared_ptr<const Identity::Impl>> make_impl(const SigningKey& signing_key) {
  EvpKeyPtr key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, signing_key.secret().data(),
                                             kSigningKeyBytes));
  if (!key) return internal("make Ed25519 key");
  const std::optional<PeerId> id = peer_id_of(key.get());
  if (!id) return internal("read public key");
  auto certificate = self_signed_certificate(key.get());
  if (!certificate) return certificate.error();
  auto impl = std::make_shared<Identity::Impl>();
  impl->id = *id;
  impl->key = std::move(key);
  impl->certificate = std::move(certificate).value();
  return std::shared_ptr<const Identity::Impl>(std::move(impl));
}

Error not_a_key(const std::string& path) {
  return {ErrorCode::kBadInput, "read identity " + path,
          "it holds no unencrypted Ed25519 private key in PEM form; name the file of a key, or a "
          "name that is free, where a new key is to be kept"};
}

// nullopt: there is no such file.
Result<std::optional<std::string>> read_file(const std::string& path) {
  auto text = read_input_file(path, kKeyFileBytesMax);
  if (text) return std::optional<std::string>(*std::move(text));
  Error error = text.error();
  if (error.code == ErrorCode::kBadInput) return not_a_key(path);  // too large for one
  error.operation = "read identity " + path;
  if (error.code == ErrorCode::kExists) error.code = ErrorCode::kIo;  // as load_or_create() says
  if (error.code != ErrorCode::kNotFound) return error;
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::optional<std::string>();
  error.detail = "it is a symbolic link to nothing; remove it";
  return error;
}

}  // namespace

std::optional<PeerId> peer_id_of(const EVP_PKEY* key) {
  std::array<std::uint8_t, 32> raw{};
  std::size_t bytes = raw.size();
  if (EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(key, raw.data(), &bytes) != 1 ||
      !is_public_key({reinterpret_cast<const char*>(raw.data()), bytes}))
    return std::nullopt;
  PeerId id;
  static_assert(sizeof id.bytes == SHA256_DIGEST_LENGTH);
  SHA256(raw.data(), raw.size(), id.bytes.data());
  return id;
}

Result<Identity> Identity::of(const SigningKey& key) {
  auto impl = make_impl(key);
  if (!impl) return impl.error();
  Identity identity;
  identity.impl_ = std::move(impl).value();
  return identity;
}

Result<Identity> Identity::generate() {
  return of(SigningKey::generate());
}

Result<Identity> Identity::load_or_create(const std::string& path) {
  auto text = read_file(path);
  if (!text) return text.error();
  if (!text->has_value()) {
    const SigningKey fresh = SigningKey::generate();
    const auto written = write_new_key_file(path, fresh);
    if (!written) return written.error();
    if (*written) return of(fresh);
    text = read_file(path);  // another process was first: that key it is
    if (!text) return text.error();
    if (!text->has_value())
      return Error{ErrorCode::kIo, "read identity " + path, "it comes and goes"};
  }
  const auto key = SigningKey::from_pem(**text);
  wipe_text(**text);
  if (!key) return not_a_key(path);
  return of(*key);
}

const PeerId& Identity::id() const {
  return impl_->id;
}

}  // namespace firn::proto::transport
