#include "client/app/session/standstill_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "client/app/console/quantities.h"
#include "proto/base/address.h"

namespace firn::app {
namespace {

using core::AddressStanding;
using core::NeighbourStanding;
using core::Standstill;
using core::TrackerStanding;

constexpr std::size_t kNamedMax = 3;  // of things of a kind; the others are counted

std::string seconds_since(core::TimeUs since, core::TimeUs now) {
  return format_seconds(static_cast<double>((now - since) / core::kSecond));
}

// A text with a key: the text without what merely grows.
struct Part {
  std::string key;
  std::string text;
};

std::string joined(const std::vector<std::string>& pieces, const std::string& separator) {
  std::string text;
  for (const std::string& piece : pieces) text += (text.empty() ? "" : separator) + piece;
  return text;
}

Part tracker_part(const TrackerStanding& tracker, core::TimeUs now) {
  const std::string name =
      "tracker " + to_text(Address{{}, tracker.address.host, tracker.address.port});
  switch (tracker.kind) {
    case TrackerStanding::Kind::kNoAnswerYet:
      return {name + " asked",
              name + " has not answered yet, since " + seconds_since(tracker.since, now)};
    case TrackerStanding::Kind::kFailed:
      return {name + tracker.error, name + " cannot be asked: " + tracker.error};
    case TrackerStanding::Kind::kAnswered:
      break;
  }
  if (tracker.swarm <= 1) return {name + " empty", name + " knows no other peer of this content"};
  return {name + " others", fmt::format("{} knows {} other peer{}", name, tracker.swarm - 1,
                                        tracker.swarm == 2 ? "" : "s")};
}

// An address may be known with a peer's id and without one, or with two.
std::vector<AddressStanding> each_place_once(const std::vector<AddressStanding>& addresses) {
  std::vector<AddressStanding> places;
  for (const AddressStanding& one : addresses) {
    const auto same = [&](const AddressStanding& other) {
      return other.address.host == one.address.host && other.address.port == one.address.port &&
             other.error == one.error && other.calling == one.calling;
    };
    if (std::none_of(places.begin(), places.end(), same)) places.push_back(one);
  }
  return places;
}

// Addresses of which the same can be said are told together.
Part address_part(const std::vector<AddressStanding>& known, core::TimeUs now) {
  const std::vector<AddressStanding> addresses = each_place_once(known);
  if (addresses.empty()) return {"no address", "no address of a peer is known"};
  std::map<std::string, std::vector<const AddressStanding*>> by_error;
  for (const AddressStanding& one : addresses) {
    by_error[!one.error.empty() ? one.error
             : one.calling      ? "no answer yet"
                                : "not called yet"]
        .push_back(&one);
  }
  std::vector<std::string> texts;
  Part part;
  for (const auto& [error, group] : by_error) {
    std::vector<std::string> names;
    core::TimeUs since = now;
    for (const AddressStanding* one : group) {
      if (names.size() < kNamedMax) {
        names.push_back(to_text(Address{{}, one->address.host, one->address.port}));
      }
      if (one->calling) since = std::min(since, one->since);
    }
    if (group.size() > kNamedMax) names.push_back(fmt::format("{} more", group.size() - kNamedMax));
    std::string text = joined(names, ", ") + ": " + error;
    if (error == "no answer yet") text += " since " + seconds_since(since, now);
    texts.push_back(text);
    part.key += (group.size() == 1 ? names.front() : std::string()) + error + '\n';
  }
  part.text = fmt::format("{} address{} tried: {}", addresses.size(),
                          addresses.size() == 1 ? "" : "es", joined(texts, "; "));
  return part;
}

std::string name_of(const NeighbourStanding& peer) {
  return fmt::format("peer {} at {}", peer.id.short_text(), peer.endpoint);
}

// Of the peers of this kind each with what is said of it, and when its last message came.
Part silent_part(const Standstill& standstill, NeighbourStanding::Kind kind,
                 const std::string& what, core::TimeUs now) {
  Part part;
  std::vector<std::string> texts;
  std::size_t more = 0;
  for (const NeighbourStanding& peer : standstill.neighbours) {
    if (peer.kind != kind) continue;
    part.key += peer.id.text();
    if (texts.size() == kNamedMax) {
      ++more;
      continue;
    }
    texts.push_back(fmt::format("{} {} (last heard {} ago)", name_of(peer), what,
                                seconds_since(peer.heard_at, now)));
  }
  if (more > 0) texts.push_back(fmt::format("so do {} more", more));
  part.text = joined(texts, "; ");
  return part;
}

// What neighbours have taken back.
Part withdrawn_part(const Standstill& standstill) {
  Part part;
  std::vector<std::string> texts;
  for (const NeighbourStanding& peer : standstill.neighbours) {
    if (peer.withdrawn_bytes == 0) continue;
    part.key += peer.id.text();
    if (texts.size() == kNamedMax) continue;
    texts.push_back(fmt::format("{} says that its files changed or cannot be read ({} of them)",
                                name_of(peer), format_bytes(peer.withdrawn_bytes)));
  }
  part.text = joined(texts, "; ");
  return part;
}

Part lacking_part(const Standstill& standstill) {
  if (standstill.lacking_bytes == 0) return {};
  const std::size_t peers = standstill.neighbours.size();
  return {"lacking", fmt::format("{} {} of what is missing here",
                                 peers == 1 ? name_of(standstill.neighbours[0]) + " lacks"
                                            : fmt::format("the {} connected peers lack", peers),
                                 format_bytes(standstill.lacking_bytes))};
}

std::vector<Part> parts_of(const Standstill& standstill, core::TimeUs now,
                           const std::vector<std::string>& origins) {
  using Kind = Standstill::Kind;
  std::vector<Part> parts;
  const auto fixed = [&](const std::string& text) { parts.push_back({text, text}); };
  const auto elsewhere = [&] {
    for (const std::string& origin : origins) fixed(origin);
    for (const TrackerStanding& tracker : standstill.trackers)
      parts.push_back(tracker_part(tracker, now));
    if (standstill.neighbours.empty() || !standstill.addresses.empty())
      parts.push_back(address_part(standstill.addresses, now));
  };
  switch (standstill.kind) {
    case Kind::kStorePaused:
      fixed("the disk takes nothing: " + standstill.store_error);
      break;
    case Kind::kStoreBehind:
      fixed("what has come waits in memory for the disk");
      break;
    case Kind::kLimited:
      fixed("the download limit lets nothing more come yet");
      break;
    case Kind::kFinishing:
      fixed("everything has come; the files are being finished");
      break;
    case Kind::kDecoding:
      fixed("everything has come; the last of it is being decoded");
      break;
    case Kind::kNobody:
      fixed("no peer is connected");
      elsewhere();
      break;
    case Kind::kNoManifest:
      fixed("no connected peer has sent the manifest");
      elsewhere();
      break;
    case Kind::kNoState:
      parts.push_back(silent_part(standstill, NeighbourStanding::Kind::kNoHello,
                                  "is connected and has not said hello", now));
      parts.push_back(silent_part(standstill, NeighbourStanding::Kind::kNoState,
                                  "is connected and has not said what it holds", now));
      elsewhere();
      break;
    case Kind::kLacking:
      parts.push_back(lacking_part(standstill));
      parts.push_back(withdrawn_part(standstill));
      elsewhere();
      break;
    case Kind::kSilent:
      parts.push_back(silent_part(standstill, NeighbourStanding::Kind::kSilent,
                                  "is connected and sends no blocks", now));
      for (const std::string& origin : origins) fixed(origin);
      parts.push_back(lacking_part(standstill));
      parts.push_back(withdrawn_part(standstill));
      break;
  }
  return parts;
}

}  // namespace

const char* standstill_name(core::Standstill::Kind kind) {
  using Kind = core::Standstill::Kind;
  switch (kind) {
    case Kind::kStorePaused:
      return "store_paused";
    case Kind::kStoreBehind:
      return "store_behind";
    case Kind::kLimited:
      return "limited";
    case Kind::kFinishing:
      return "finishing";
    case Kind::kDecoding:
      return "decoding";
    case Kind::kNobody:
      return "nobody";
    case Kind::kNoManifest:
      return "no_manifest";
    case Kind::kNoState:
      return "no_state";
    case Kind::kLacking:
      return "lacking";
    case Kind::kSilent:
      return "silent";
  }
  return "";
}

Reason reason_of(const Standstill& standstill, core::TimeUs now,
                 const std::vector<std::string>& origins) {
  Reason reason;
  reason.name = reason.key = standstill_name(standstill.kind);
  std::vector<std::string> texts;
  for (const Part& part : parts_of(standstill, now, origins)) {
    if (part.text.empty()) continue;
    reason.key += '\n' + part.key;
    texts.push_back(part.text);
  }
  reason.text = joined(texts, "; ");
  return reason;
}

}  // namespace firn::app
