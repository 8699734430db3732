// What this run of the program may say for contents: with the key that its user names (--sign),
// with those that are derived from the account's own, or by certificates that others made. It signs
// manifests, and makes the certificates that let this process speak for a content's authority
// (proto/content/authority.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/app/console/console.h"
#include "proto/base/signing_key.h"
#include "proto/content/content_secret.h"
#include "proto/content/manifest.h"

namespace firn::app {

struct SigningOptions {
  std::string key_file;                        // empty: the account's key
  bool no_authority = false;                   // contents that are made name none
  std::vector<std::string> certificates = {};  // made for this peer by others (certificate_text)
};

class Signer {
 public:
  // For making contents: makes the account's key if there is none. Where none can be kept, contents
  // get no authority, and a warning says so. Errors: those of the named key.
  static Result<Signer> for_making(const SigningOptions& options, Console& console);
  // For contents that others may have made.
  static Result<Signer> for_serving(const SigningOptions& options);

  // The authority that a content of this info gets: 32 bytes, or empty. Any thread.
  std::string authority_for(const Info& info) const;
  // The manifest, signed if a key was named.
  Result<Manifest> sign(Manifest manifest) const;
  // The secret of a private content of this manifest: derived from the key that was named, or from
  // the account's, so that an account that shares the same files again gets the same link; where
  // there is neither, a fresh one.
  ContentSecret secret_for(const ContentId& content) const;
  // The same of a content that this key or account is the authority of; else nullopt.
  std::optional<ContentSecret> own_secret(const Manifest& manifest) const;
  // The key that was named.
  std::optional<PublicKey> publisher() const;

  // Whether this account's key made the content's authority.
  bool of_this_account(const Manifest& manifest) const;
  // Errors: kBadInput (by one of SigningOptions::certificates the peer `self` speaks for none of
  // `contents`).
  Status check_given(const std::vector<const Manifest*>& contents, const PeerId& self) const;
  // For the peer `self`; empty: this signer does not speak for the content. Errors: kBadInput (the
  // key that was named is not the authority's).
  Result<std::string> certificate(const Manifest& manifest, const PeerId& self) const;

 private:
  Signer() = default;
  std::optional<SigningKey> account_content_key(const Manifest& manifest) const;

  std::optional<SigningKey> named_;
  std::optional<SigningKey> account_;
  std::vector<std::string> given_;  // 64 bytes each
};

}  // namespace firn::app
