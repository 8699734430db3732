#include "client/app/commands/options/publishing_options.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "client/app/publishing/account_key.h"
#include "proto/base/public_key.h"
#include "proto/content/publisher.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

constexpr const char* kGroup = "Publisher";

CLI::Option* sign_option(CLI::App& app, SigningOptions& options, const char* description) {
  return app.add_option("--sign", options.key_file, description)
      ->option_text("KEY")
      ->check(not_empty())
      ->group(kGroup);
}

std::string fault_of_key(const std::string& text) {
  return public_key_from_text(text)
             ? ""
             : "it is no key as firn keygen prints one, of 52 characters a-z and 2-7";
}

// Whether `file`, which may be missing, and its folders too, stands in `shared` or is it. Not for
// the root: that has no name, and is refused for it.
bool stands_in(const std::string& shared, const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path whole = fs::canonical(shared, error);
  if (error || file.empty() || whole == whole.root_path()) return false;
  const fs::path part = fs::weakly_canonical(fs::absolute(file, error), error);
  return std::mismatch(whole.begin(), whole.end(), part.begin(), part.end()).first == whole.end();
}

}  // namespace

void add_certificate_option(CLI::App& app, SigningOptions& options) {
  app.add_option("--certificate", options.certificates,
                 "speak for a content by this certificate, which firn certify made for the id of "
                 "this peer's identity; may be given several times")
      ->option_text("TEXT")
      ->check(not_empty())
      ->group(kGroup);
}

void add_sign_option(CLI::App& app, SigningOptions& options) {
  sign_option(app, options,
              "speak for the contents with the key in this file, which must be their authority's "
              "(default: this account's, where that made them)");
}

void add_signing_options(CLI::App& app, SigningOptions& options) {
  CLI::Option* const sign =
      sign_option(app, options,
                  "sign the manifest with the key in this file (firn keygen), and make it the "
                  "content's authority (default: a key of this account's, for each content)");
  app.add_flag("--no-authority", options.no_authority,
               "name no authority: the same files then give everybody the same content id, and "
               "peers that send false blocks do more harm")
      ->excludes(sign)
      ->group(kGroup);
}

Status check_key_apart(const SigningOptions& options, const std::string& shared) {
  if (stands_in(shared, options.key_file))
    return Error{ErrorCode::kBadInput, "sign with " + options.key_file,
                 "the key stands in what is shared, and all would get it; keep it elsewhere"};
  const std::string account = account_key_path();
  if (stands_in(shared, account))
    return Error{ErrorCode::kBadInput, "share " + shared,
                 "this account's secret key is or would be kept in it, at " + account +
                     ", and all would get it; share less, or set XDG_STATE_HOME to a folder "
                     "elsewhere"};
  return Done{};
}

void add_publisher_option(CLI::App& app, std::string& key) {
  app.add_option("--publisher", key,
                 "take only what this key has signed (firn keygen --show prints it)")
      ->option_text("KEY")
      ->check(CLI::Validator([](const std::string& text) { return fault_of_key(text); }, ""))
      ->group(kGroup);
}

Status require_publisher(ContentSource& source, const std::string& key) {
  const auto wanted = public_key_from_text(key);
  if (wanted && source.publisher && *wanted != *source.publisher)
    return Error{ErrorCode::kWrongIdentity, "take the publisher " + wanted->text(),
                 "the link asks for another, " + source.publisher->text()};
  if (wanted) source.publisher = wanted;
  if (!source.publisher || !source.manifest) return Done{};
  const Status right = check_published_by(*source.manifest, *source.publisher);
  if (right.ok() || !source.manifest_kept) return right;
  source.manifest.reset();
  source.manifest_kept = false;
  return Done{};
}

}  // namespace firn::app
