// A file that keeps a secret Ed25519 key: PKCS#8 in PEM form, readable by its owner alone.
#pragma once

#include <string>

#include "proto/base/result.h"
#include "proto/base/signing_key.h"

namespace firn {

// Errors: kBadInput (it holds no unencrypted Ed25519 key), others as read_input_file.
Result<SigningKey> read_key_file(const std::string& path);

// Where nothing stands. False: something does, and is left as it is. Errors as OutputFile's.
Result<bool> write_new_key_file(const std::string& path, const SigningKey& key);

}  // namespace firn
