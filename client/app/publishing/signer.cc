#include "client/app/publishing/signer.h"

#include <algorithm>
#include <utility>

#include "client/app/publishing/account_key.h"
#include "proto/content/authority.h"
#include "proto/program/key_file.h"

namespace firn::app {

Result<Signer> Signer::for_making(const SigningOptions& options, Console& console) {
  if (!options.key_file.empty() || options.no_authority) {
    Signer signer;
    if (options.key_file.empty()) return signer;
    auto key = read_key_file(options.key_file);
    if (!key.ok()) return key.error();
    signer.named_ = *key;
    return signer;
  }
  Signer signer;
  const auto account = load_or_make_account_key(account_key_path());
  if (account.ok()) {
    signer.account_ = *account;
  } else {
    console.warning(
        "no key for this account (" + account.error().message() +
        "): no peer can prove that it speaks for what is shared now, so that a peer that sends "
        "false blocks does more harm; --sign names a key, --no-authority goes without one");
  }
  return signer;
}

Result<Signer> Signer::for_serving(const SigningOptions& options) {
  Signer signer;
  if (!options.key_file.empty()) {
    auto key = read_key_file(options.key_file);
    if (!key.ok()) return key.error();
    signer.named_ = *key;
  } else if (const auto account = load_account_key(account_key_path()); account.ok()) {
    signer.account_ = *account;
  }
  for (const std::string& text : options.certificates) {
    auto certificate = certificate_from_text(text);
    if (!certificate)
      return Error{ErrorCode::kBadInput, "use the certificate " + text,
                   "it has not 103 characters a-z and 2-7, as firn certify prints it"};
    signer.given_.push_back(*std::move(certificate));
  }
  return signer;
}

std::string Signer::authority_for(const Info& info) const {
  if (named_) return std::string(named_->public_key().raw());
  if (!account_) return {};
  return std::string(content_key(*account_, id_without_authority(info)).public_key().raw());
}

Result<Manifest> Signer::sign(Manifest manifest) const {
  if (!named_) return manifest;
  return sign_manifest(manifest, named_->secret());
}

ContentSecret Signer::secret_for(const ContentId& content) const {
  const std::optional<SigningKey>& key = named_ ? named_ : account_;
  return key ? content_secret(*key, content) : ContentSecret::generate();
}

std::optional<ContentSecret> Signer::own_secret(const Manifest& manifest) const {
  const bool own = named_ ? named_->public_key().raw() == manifest.info.authority_key
                          : of_this_account(manifest);
  if (!own) return std::nullopt;
  return secret_for(manifest.id);
}

std::optional<PublicKey> Signer::publisher() const {
  if (!named_) return std::nullopt;
  return named_->public_key();
}

std::optional<SigningKey> Signer::account_content_key(const Manifest& manifest) const {
  if (!account_ || manifest.info.authority_key.empty()) return std::nullopt;
  SigningKey key = content_key(*account_, id_without_authority(manifest.info));
  if (key.public_key().raw() != manifest.info.authority_key) return std::nullopt;
  return key;
}

bool Signer::of_this_account(const Manifest& manifest) const {
  return account_content_key(manifest).has_value();
}

Status Signer::check_given(const std::vector<const Manifest*>& contents, const PeerId& self) const {
  for (const std::string& given : given_) {
    const bool fits = std::ranges::any_of(contents, [&](const Manifest* content) {
      return certified(content->info.authority_key, content->id, self, given);
    });
    if (!fits)
      return Error{ErrorCode::kBadInput, "use the certificate " + certificate_text(given),
                   "it was made for another content than those served here, or for another peer "
                   "than " +
                       self.text() + ", the id of this identity"};
  }
  return Done{};
}

Result<std::string> Signer::certificate(const Manifest& manifest, const PeerId& self) const {
  for (const std::string& given : given_)
    if (certified(manifest.info.authority_key, manifest.id, self, given)) return given;
  if (named_ && named_->public_key().raw() != manifest.info.authority_key) {
    const auto authority = PublicKey::from_bytes(manifest.info.authority_key);
    return Error{ErrorCode::kBadInput, "speak for " + manifest.info.name,
                 "the key given with --sign is " + named_->public_key().text() + "; " +
                     (authority ? "the content's authority is " + authority->text()
                                : "the content has no authority")};
  }
  const auto key = named_ ? named_ : account_content_key(manifest);
  if (!key) return std::string();
  return *make_certificate(manifest.id, self, key->secret());
}

}  // namespace firn::app
