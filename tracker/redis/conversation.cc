#include "tracker/redis/conversation.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "proto/base/limits.h"
#include "proto/base/plain_text.h"
#include "tracker/manifest_check.h"
#include "tracker/redis/records.h"

namespace firn::tracker {
namespace {

constexpr std::size_t kPeersPerTurn = 2000;
constexpr std::size_t kPeersPerCommand = 100;  // for whose time other clients of Redis wait
constexpr std::size_t kIdsPerTurn = 500;
constexpr std::size_t kPartsPerTurn = 4;
constexpr std::size_t kWantedMax = 100'000;
constexpr std::size_t kEntriesPerTurn = 100;
constexpr std::size_t kPagePeers = 500;
constexpr std::size_t kPagesPerTurn = 100;
constexpr std::size_t kPeersReadMax = 100'000;  // of a content
constexpr std::size_t kPrefixBytesMax = 64;
// Manifests stay in Redis for a day after a tracker that hosts them said so last.
constexpr const char* kManifestLifetimeMs = "86400000";
// Entries of the stream that stay, about: 330 MB if each is full, a minute of a million peers.
constexpr const char* kEntriesMax = "5000";
constexpr const char* kStreamLifetimeMs = "600000";

// Digits alone.
std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// TIME-NUMBER, as Redis names the entries of a stream.
bool names_entry(std::string_view name) {
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos || !number_of(name.substr(dash + 1))) return false;
  const auto ms = number_of(name.substr(0, dash));
  return ms && *ms <= std::uint64_t{1} << 53;
}

// Of entries that come from that time of the server on: a moment before, as it is known to the
// second.
std::string name_before(std::uint64_t seconds) {
  const bool is_time = seconds > 0 && seconds < std::uint64_t{1} << 40;
  return std::to_string(is_time ? seconds * 1000 - 1 : 0) + "-0";
}

// What Redis says how long ago something was.
bool is_age(const Reply& reply) {
  return reply.kind == Reply::Kind::kInteger && reply.integer >= 0 &&
         reply.integer < std::int64_t{1} << 40;
}

bool are_of(const std::vector<Reply>& list, std::size_t from, Reply::Kind kind, std::size_t count) {
  if (list.size() < from + count) return false;
  return std::all_of(list.begin() + static_cast<std::ptrdiff_t>(from),
                     list.begin() + static_cast<std::ptrdiff_t>(from + count),
                     [kind](const Reply& one) { return one.kind == kind; });
}

Error refused(std::string detail) {
  return {ErrorCode::kProtocol, "use Redis", std::move(detail)};
}

// What a person can do about an answer that is an error.
std::string advice_on(const std::string& text) {
  if (text.starts_with("MOVED") || text.starts_with("CROSSSLOT"))
    return "; it is a node of a cluster: put a proxy for clusters before it";
  if (text.starts_with("OOM")) return "; give it more memory (maxmemory)";
  if (text.starts_with("NOPERM")) return "; docs/operations.md lists what its user must be allowed";
  return "";
}

template <typename Into, typename From>
void append(Into& into, From&& from) {
  into.insert(into.end(), std::make_move_iterator(from.begin()),
              std::make_move_iterator(from.end()));
}

}  // namespace

void Conversation::begin() {
  asked_.clear();
  scripts_ = {};
  peers_.clear();
  taken_.clear();
  offers_.clear();
  manifests_.clear();
  parts_said_ = 0;
  held_.clear();
  wanted_.clear();
  found_.clear();
  fetched_ = {};
  position_.clear();
  more_changes_ = false;
  scanning_ = true;
  cursor_ = "0";
  unread_.clear();
}

void Conversation::post(ToRedis letters) {
  append(peers_, letters.peers);
  append(manifests_, letters.manifests);
  append(held_, letters.held);
  if (wanted_.size() < kWantedMax) append(wanted_, letters.wanted);
}

FromRedis Conversation::received() {
  return std::exchange(received_, {});
}

bool Conversation::busy(bool room) const {
  if (scripts_[0].empty() || !peers_.empty() || !taken_.empty() || !offers_.empty() ||
      !manifests_.empty() || !held_.empty())
    return true;
  return room && (more_changes_ || !reconciled() || !wanted_.empty() || !found_.empty());
}

// --- what is said ---

void Conversation::ask(Question question, Command command) {
  asked_.push_back(std::move(question));
  commands_.push_back(std::move(command));
}

Command Conversation::call(Script script, std::vector<std::string> keys,
                           std::vector<std::string> more) const {
  Command command{"EVALSHA", scripts_[script], std::to_string(keys.size())};
  append(command, keys);
  append(command, more);
  return command;
}

std::vector<Command> Conversation::next(Time now, bool room) {
  commands_.clear();
  asked_.clear();
  if (scripts_[0].empty()) {
    ask({Asked::kTime}, {"TIME"});
    std::size_t number = 0;
    for (const char* text : {scripts::kPut, scripts::kRead, scripts::kChanges, scripts::kField})
      ask({Asked::kScript, {}, number++}, {"SCRIPT", "LOAD", text});
    // It says nothing, but shows whether Redis takes writes before it counts as there.
    ask({}, {"XADD", keys_.changes(), "*", "from", own_, "peers", "", "offers", ""});
    ask({}, {"PEXPIRE", keys_.changes(), kStreamLifetimeMs});
    return std::move(commands_);
  }
  say_peers(now);
  tell_others(now);
  say_manifests();
  if (room) {
    ask_manifests();
    read_new();
    read_all();
  } else {
    ask({Asked::kTime}, {"TIME"});  // so that each turn shows that Redis answers
  }
  return std::move(commands_);
}

void Conversation::say_peers(Time now) {
  std::size_t left = std::min(kPeersPerTurn, peers_.size());
  while (left > 0) {
    Question question{Asked::kPut, peers_.front().content};
    std::vector<std::string> words{std::to_string(ttl_.count())};
    while (left > 0 && question.changes.size() < kPeersPerCommand &&
           peers_.front().content == question.content) {
      const PeerChange& change = peers_.front();
      words.emplace_back(change.peer.endpoint.id.raw());
      words.push_back(std::to_string(std::max<Time::rep>((now - change.at).count(), 0)));
      words.push_back(change.left ? std::string() : peer_record(change.peer));
      question.changes.push_back(change);
      peers_.pop_front();
      --left;
    }
    Command command =
        call(kPut, {keys_.seen(question.content), keys_.peers(question.content)}, std::move(words));
    ask(std::move(question), std::move(command));
  }
}

// Of what Redis has taken. Entries go by their number: their names have times that stand still
// after the server's clock was set back, so by age none would go.
void Conversation::tell_others(Time now) {
  constexpr std::size_t kChangeBytesMax = 128;
  std::size_t said = 0, offered = 0;
  while (said < taken_.size() || offered < offers_.size()) {
    std::string peers, offers;
    while (said < taken_.size() && peers.size() + kChangeBytesMax <= kChangesBytesMax)
      append_change(peers, taken_[said++], now);
    while (offered < offers_.size() && offers.size() + kIdBytes <= kChangesBytesMax)
      append_id(offers, offers_[offered++]);
    ask({}, {"XADD", keys_.changes(), "MAXLEN", "~", kEntriesMax, "*", "from", own_, "peers",
             std::move(peers), "offers", std::move(offers)});
    ask({}, {"PEXPIRE", keys_.changes(), kStreamLifetimeMs});
  }
  taken_.clear();
  offers_.clear();
}

// A manifest counts as there from its size on, which comes last. One whose tracker ended before
// that lacks it, and is written anew by those that hold it.
void Conversation::say_manifests() {
  for (std::size_t i = 0; i < kIdsPerTurn && !held_.empty(); ++i) {
    const ContentId& content = held_.front();
    ask({Asked::kHeld, content}, {"HSTRLEN", keys_.manifest(content), "size"});
    ask({}, {"PEXPIRE", keys_.manifest(content), kManifestLifetimeMs});
    held_.pop_front();
  }
  if (manifests_.empty()) return;
  const SharedManifest& manifest = manifests_.front();
  const std::string key = keys_.manifest(manifest.content);
  if (parts_said_ == 0) {
    ask({}, {"DEL", key});
    ask({}, {"HSET", key, "prefix", manifest.prefix});
    ask({}, {"PEXPIRE", key, kManifestLifetimeMs});
  }
  for (std::size_t i = 0; i < kPartsPerTurn; ++i, ++parts_said_) {
    const std::size_t offset = parts_said_ * kManifestShareBytes;
    if (offset >= manifest.bytes.size()) {
      ask({}, {"HSET", key, "size", std::to_string(manifest.bytes.size())});
      ask({}, {"PEXPIRE", key, kManifestLifetimeMs});
      offers_.push_back(manifest.content);
      manifests_.pop_front();
      parts_said_ = 0;
      return;
    }
    ask({}, {"HSET", key, std::to_string(parts_said_),
             manifest.bytes.substr(offset, kManifestShareBytes)});
  }
}

void Conversation::ask_manifests() {
  if (found_.empty()) {
    for (std::size_t i = 0; i < kIdsPerTurn && !wanted_.empty(); ++i) {
      ask({Asked::kSize, wanted_.front()},
          call(kField, {keys_.manifest(wanted_.front())}, {"size", "20"}));
      wanted_.pop_front();
    }
    return;
  }
  const ContentId& content = found_.front().content;
  if (fetched_.content != content || fetched_.bytes.empty()) {
    fetched_ = {content, {}, {}};
    ask({Asked::kPrefix, content},
        call(kField, {keys_.manifest(content)}, {"prefix", std::to_string(kPrefixBytesMax)}));
  }
  ask({Asked::kPart, content}, call(kField, {keys_.manifest(content)},
                                    {std::to_string(fetched_.bytes.size() / kManifestShareBytes),
                                     std::to_string(kManifestShareBytes)}));
}

void Conversation::read_new() {
  ask({Asked::kChanges},
      call(kChanges, {keys_.changes()}, {position_, std::to_string(kEntriesPerTurn), own_}));
}

void Conversation::read_all() {
  for (std::size_t i = 0; i < kPagesPerTurn && !unread_.empty(); ++i) {
    const Unread one = unread_.front();
    unread_.pop_front();
    ask({Asked::kRead, one.content, one.offset},
        call(kRead,
             {keys_.seen(one.content), keys_.peers(one.content), keys_.manifest(one.content)},
             {std::to_string(ttl_.count()), std::to_string(one.offset),
              std::to_string(kPagePeers)}));
  }
  if (scanning_ && unread_.size() < kPagesPerTurn)
    ask({Asked::kScan},
        {"SCAN", cursor_, "MATCH", keys_.seen_pattern(), "COUNT", std::to_string(kIdsPerTurn)});
}

// --- what is answered ---

Status Conversation::take(const std::vector<Reply>& replies, Time now) {
  const std::vector<Question> asked = std::exchange(asked_, {});
  if (replies.size() != asked.size()) return refused("it answered what was not asked");
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (Status taken = take_one(asked[i], replies[i], now); !taken) return taken;
  return Done{};
}

Status Conversation::take_one(const Question& question, const Reply& reply, Time now) {
  if (reply.kind == Reply::Kind::kError) {
    // A key of a content that another program made: its content is not shared, the others are.
    if (reply.text.starts_with("WRONGTYPE") && question.content != ContentId()) {
      ++rejected_;
      return Done{};
    }
    return refused(to_plain_text(reply.text, limits::kReasonBytesMax) + advice_on(reply.text));
  }
  bool right = true;
  switch (question.what) {
    case Asked::kTime:
      right = are_of(reply.list, 0, Reply::Kind::kText, 2) && number_of(reply.list[0].text);
      if (right && position_.empty()) position_ = name_before(*number_of(reply.list[0].text));
      break;
    case Asked::kScript:
      right = reply.kind == Reply::Kind::kText && reply.text.size() == 40;
      scripts_[question.number] = reply.text;
      break;
    case Asked::kPut:
      right = take_put(question, reply);
      break;
    case Asked::kRead:
      right = take_page(question, reply, now);
      break;
    case Asked::kChanges:
      right = take_changes(reply, now);
      break;
    case Asked::kScan:
      right = take_keys(reply);
      break;
    case Asked::kHeld:
      if (reply.integer == 0) received_.missing.push_back(question.content);
      break;
    case Asked::kSize:
      take_size(question, reply);
      break;
    case Asked::kPrefix:
      fetched_.prefix = reply.text;
      break;
    case Asked::kPart:
      take_part(reply);
      break;
    case Asked::kDone:
      break;
  }
  if (right) return Done{};
  return refused("an answer makes no sense");
}

bool Conversation::take_put(const Question& question, const Reply& reply) {
  for (const Reply& one : reply.list) {
    if (one.kind != Reply::Kind::kInteger || one.integer < 1 ||
        one.integer > static_cast<std::int64_t>(question.changes.size()))
      return false;
    taken_.push_back(question.changes[static_cast<std::size_t>(one.integer - 1)]);
  }
  return reply.kind == Reply::Kind::kList;
}

bool Conversation::take_page(const Question& question, const Reply& reply, Time now) {
  const std::vector<Reply>& list = reply.list;
  if (!are_of(list, 0, Reply::Kind::kInteger, 2) || (list.size() - 2) % 3 != 0) return false;
  const std::size_t next = question.number + kPagePeers;
  const std::int64_t looked = list[1].integer;
  if (looked == static_cast<std::int64_t>(kPagePeers) && next < kPeersReadMax)
    unread_.push_front({question.content, next});
  std::int64_t right = 0;
  for (std::size_t i = 2; i < list.size(); i += 3) {
    const auto id = PeerId::from_bytes(list[i].text);
    if (!id || !is_age(list[i + 1])) continue;
    PeerChange change{
        question.content, {}, list[i + 2].text.empty(), now - Time(list[i + 1].integer)};
    const auto peer = parse_peer_record(*id, list[i + 2].text);
    if (!change.left && !peer) continue;
    if (peer) change.peer = *peer;
    change.peer.endpoint.id = *id;
    received_.peers.push_back(change);
    ++right;
  }
  rejected_ += static_cast<std::uint64_t>(std::max<std::int64_t>(looked - right, 0));
  if (question.number == 0 && list[0].integer != 0) received_.offered.push_back(question.content);
  return true;
}

bool Conversation::take_changes(const Reply& reply, Time now) {
  const std::vector<Reply>& list = reply.list;
  if (list.size() < 4 || (list.size() - 4) % 3 != 0 || !are_of(list, 2, Reply::Kind::kInteger, 2) ||
      list[0].kind != Reply::Kind::kInteger || list[0].integer < 0)
    return false;
  if (!names_entry(list[1].text)) return false;
  const bool has_missed_some = list[0].integer == 0;  // none is there up to the last one read
  position_ = list[1].text;
  more_changes_ = list[2].integer >= static_cast<std::int64_t>(kEntriesPerTurn);
  rejected_ += static_cast<std::uint64_t>(std::max<std::int64_t>(list[3].integer, 0));
  for (std::size_t i = 4; i < list.size(); i += 3) {
    const auto peers = is_age(list[i])
                           ? parse_changes(list[i + 1].text, now - Time(list[i].integer))
                           : std::nullopt;
    const auto offers = parse_ids(list[i + 2].text);
    if (!peers || !offers) {
      ++rejected_;
      continue;
    }
    append(received_.peers, *peers);
    append(received_.offered, *offers);
  }
  if (more_changes_ && has_missed_some && !scanning_) {
    scanning_ = true;
    cursor_ = "0";
  }
  return true;
}

bool Conversation::take_keys(const Reply& reply) {
  if (reply.list.size() != 2 || !number_of(reply.list[0].text)) return false;
  cursor_ = reply.list[0].text;
  scanning_ = cursor_ != "0";
  for (const Reply& key : reply.list[1].list) {
    const auto content = keys_.content_of(key.text);
    if (content) {
      unread_.push_back({*content, 0});
    } else {
      ++rejected_;
    }
  }
  return true;
}

void Conversation::take_size(const Question& question, const Reply& reply) {
  if (reply.kind == Reply::Kind::kNil) return;
  const auto bytes = number_of(reply.text);
  if (bytes && *bytes > 0 && *bytes <= limits::kManifestBytesMax) {
    found_.push_back({question.content, *bytes});
  } else {
    ++rejected_;
  }
}

void Conversation::take_part(const Reply& reply) {
  const Found found = found_.front();
  const std::uint64_t left = found.bytes - fetched_.bytes.size();
  const std::uint64_t expected = std::min<std::uint64_t>(left, kManifestShareBytes);
  bool right = reply.kind == Reply::Kind::kText && reply.text.size() == expected;
  if (right) {
    fetched_.bytes += reply.text;
    if (left > expected) return;
    right = check_manifest(fetched_.bytes, fetched_.content).ok();
    if (right) received_.manifests.push_back(std::move(fetched_));
  }
  // One that has gone meanwhile is another tracker's doing, which writes it anew.
  if (!right && reply.kind != Reply::Kind::kNil) ++rejected_;
  fetched_ = {};
  found_.pop_front();
}

}  // namespace firn::tracker
