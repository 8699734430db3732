// What trackers keep in Redis, and the commands that read and write it. All keys of a content have
// its id as their hash tag, so that they lie in one slot of a cluster; no command names keys of two
// slots.
//
//   PREFIX{ID}:seen      sorted set: peers by the server's time of their last announce, in ms.
//                        A peer that left stays here until its time is over, so that an older
//                        announce that comes late does not bring it back
//   PREFIX{ID}:peers     hash: a peer's record (records.h); not of those that left
//   PREFIX{ID}:manifest  hash: `prefix`, `size`, and parts of kManifestShareBytes: 0, 1, ...
//   PREFIXchanges        stream: the tracker that wrote (`from`), `peers` (records.h), `offers`
//   (content ids)
//
// Times are the server's alone: a tracker says how long ago something was. Every key expires.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/ids.h"
#include "tracker/registry.h"

namespace firn::tracker {

using Command = std::vector<std::string>;  // its words

// What Redis answers.
struct Reply {
  enum class Kind { kNil, kInteger, kText, kError, kList };
  Kind kind = Kind::kNil;
  std::int64_t integer = 0;
  std::string text;  // of errors too
  std::vector<Reply> list;
};

inline constexpr std::size_t kManifestShareBytes = 1 << 20;

class Keys {
 public:
  // `prefix`: letters, digits and : . _ - (is_key_prefix).
  explicit Keys(std::string prefix) : prefix_(std::move(prefix)) {}

  std::string seen(const ContentId& content) const { return of(content, "seen"); }
  std::string peers(const ContentId& content) const { return of(content, "peers"); }
  std::string manifest(const ContentId& content) const { return of(content, "manifest"); }
  std::string changes() const { return prefix_ + "changes"; }
  // Fits keys as seen() makes, for SCAN.
  std::string seen_pattern() const;
  // Of a key as seen() makes it; nullopt of others.
  std::optional<ContentId> content_of(std::string_view seen_key) const;

 private:
  std::string of(const ContentId& content, std::string_view what) const;
  std::string prefix_;
};

bool is_key_prefix(std::string_view text);

// Lua, which Redis runs as one step. Each filters what other programs may have written, so that a
// reply is never larger than what trackers write.
namespace scripts {

// KEYS seen, peers; ARGV lifetime in ms, then for each peer its id, age in ms and record (of one
// that left: empty). Forgets peers whose time is over. Keeps what is later than what is known; the
// numbers (from 1) of these are the reply.
extern const char* const kPut;
// KEYS seen, peers, manifest; ARGV lifetime, offset, count. Reply: whether there is a manifest;
// how many peers were looked at; then for each its id, age and record, latest first.
extern const char* const kRead;
// KEYS changes; ARGV the last entry that is known, count, own name. Reply: the server's time in ms,
// the last entry now known, how many were looked at, how many were no entries of trackers; then
// for each of other trackers its age in ms, `peers` and `offers`.
extern const char* const kChanges;
// KEYS manifest; ARGV field, bytes at most. Reply: the field, or nil.
extern const char* const kField;

}  // namespace scripts

}  // namespace firn::tracker
