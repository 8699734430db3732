// The identity of a process: an Ed25519 key with a self-signed certificate made from it at start.
// The peer id is SHA-256 of the raw public key.
#pragma once

#include <memory>
#include <string>

#include "proto/base/ids.h"
#include "proto/base/result.h"
#include "proto/base/signing_key.h"

namespace firn::proto::transport {

class Identity {
 public:
  // A fresh key, known to this process alone.
  static Result<Identity> generate();
  // Reads the key from `path` (PEM, PKCS#8), or makes one and writes it there (mode 0600).
  // Errors: kBadInput (not an Ed25519 key), kIo (no file: a folder, a FIFO) and its like.
  static Result<Identity> load_or_create(const std::string& path);

  // Errors: kInternal.
  static Result<Identity> of(const SigningKey& key);

  const PeerId& id() const;

  struct Impl;  // EVP_PKEY, X509; shared and constant
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace firn::proto::transport
