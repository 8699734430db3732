// What an Identity holds, for the files of this folder that speak OpenSSL.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <optional>

#include "proto/transport/identity.h"

namespace firn::proto::transport {

struct OpenSslFree {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using EvpKeyPtr = std::unique_ptr<EVP_PKEY, OpenSslFree>;
using X509Ptr = std::unique_ptr<X509, OpenSslFree>;

// Constant once made, so that any thread may use it.
struct Identity::Impl {
  EvpKeyPtr key;
  X509Ptr certificate;
  PeerId id;
};

// SHA-256 of the raw public key; nullopt unless it is an Ed25519 key.
std::optional<PeerId> peer_id_of(const EVP_PKEY* key);

}  // namespace firn::proto::transport
