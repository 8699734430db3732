// Options about who publishes a content: --sign of those that make or serve it, --publisher of
// those that fetch or check it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "client/app/commands/options/content_source.h"
#include "client/app/publishing/signer.h"

namespace firn::app {

// --sign
void add_sign_option(CLI::App& app, SigningOptions& options);
// --certificate
void add_certificate_option(CLI::App& app, SigningOptions& options);
// --sign and --no-authority, one of them
void add_signing_options(CLI::App& app, SigningOptions& options);

// Neither the key of --sign nor the account's may be part of what is shared. Errors: kBadInput.
Status check_key_apart(const SigningOptions& options, const std::string& shared);

// --publisher
void add_publisher_option(CLI::App& app, std::string& key);
// Asks for `key` (empty: none) besides what the link asks for, and checks the manifest if it is
// there. One that an earlier run kept is left out if it does not pass: it may be a stranger's.
// Errors: kBadInput (the link asks for another), kWrongIdentity (check_published_by).
Status require_publisher(ContentSource& source, const std::string& key);

}  // namespace firn::app
