// The key of the account that runs this program: one secret, kept in a file, from which the keys of
// the contents that it publishes are derived. So the same user who shares the same files gets the
// same content id again, and may speak for it again, while nobody sees that two contents have one
// publisher.
//
//   key of a content = HKDF-SHA256 (RFC 5869) of the account's secret; salt: the id that the
//                      content has without an authority; info: "firn authority v1"
//   secret of a private content = the same; salt: the content id; info: "firn private v1 secret"
#pragma once

#include <string>

#include "proto/base/ids.h"
#include "proto/base/result.h"
#include "proto/base/signing_key.h"
#include "proto/content/content_secret.h"

namespace firn::app {

// $XDG_STATE_HOME/firn/account.pem or $HOME/.local/state/firn/account.pem; empty if neither is set.
std::string account_key_path();

// Errors: kNotFound (there is none yet; `path` is empty), others as read_key_file's.
Result<SigningKey> load_account_key(const std::string& path);
// Makes it, and the folder, where there is none. Errors: as writing costs.
Result<SigningKey> load_or_make_account_key(const std::string& path);

SigningKey content_key(const SigningKey& account, const ContentId& id_without_authority);
// Also from a publisher's own key, in place of the account's.
ContentSecret content_secret(const SigningKey& account, const ContentId& content);

}  // namespace firn::app
