#include "tracker/served_contents.h"

#include <algorithm>

#include "proto/base/limits.h"

namespace firn::tracker {
namespace {

// Then all are read again as they are asked about.
constexpr std::size_t kKeysKeptMax = 100'000;

// The signature alone proves a publisher: anybody may name any key as a content's authority.
std::vector<PublicKey> keys_of(const Manifest& manifest) {
  if (!manifest.publisher) return {};
  return {*PublicKey::from_bytes(manifest.publisher->key)};
}

}  // namespace

bool ServedContents::listed(const ContentId& content) const {
  return lists_.contents && lists_.contents->contains(content);
}

bool ServedContents::known(const Keys& publishers) const {
  return lists_.publishers && std::ranges::any_of(publishers, [&](const PublicKey& key) {
           return lists_.publishers->contains(key);
         });
}

bool ServedContents::serves(const ContentId& content) {
  if (open() || listed(content)) return true;
  if (!lists_.publishers) return false;
  if (registry_.has_manifest(content)) return known(publishers_of(content));
  manifest_changed(content);  // it has made room for others
  return false;
}

bool ServedContents::takes_manifest_first(const ContentId& content) {
  return lists_.publishers && !serves(content);
}

void ServedContents::manifest_changed(const ContentId& content) {
  publishers_.erase(content);
}

bool ServedContents::admits(const Manifest& manifest) const {
  return open() || listed(manifest.id) || known(keys_of(manifest));
}

const ServedContents::Keys& ServedContents::publishers_of(const ContentId& content) {
  const auto kept = publishers_.find(content);
  if (kept != publishers_.end()) return kept->second;
  if (publishers_.size() >= kKeysKeptMax) publishers_.clear();
  const auto manifest = parse_manifest(read_manifest(content), content);
  return publishers_[content] = manifest.ok() ? keys_of(*manifest) : Keys{};
}

// Empty if it cannot be read.
std::string ServedContents::read_manifest(const ContentId& content) {
  std::string bytes;
  for (;;) {
    const auto part = registry_.manifest_part(content, bytes.size(), limits::kManifestPartBytes);
    if (!part.ok() || part->data.empty()) return {};
    bytes += part->data;
    if (bytes.size() >= part->total_bytes) return bytes;
  }
}

std::string ServedContents::refusal() const {
  if (!lists_.publishers)
    return "this tracker serves only contents that its operator lists: ask the operator, or use "
           "another tracker";
  return "this tracker serves only publishers that its operator lists: share with --sign and the "
         "key of one of them, ask the operator, or use another tracker";
}

}  // namespace firn::tracker
