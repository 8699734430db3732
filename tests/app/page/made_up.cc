#include "tests/app/page/made_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace firn::app {
namespace {

using core::FillingGeneration;
using core::PeerStatus;

constexpr const char* kHostileName = "<img src=x onerror=alert(1)>&\"'\u202egpj.bin";
constexpr const char* kHostileAgent = "\"><svg onload=alert(2)><script>alert(3)</script>";

constexpr std::uint64_t kGenerationBytes = 64 * 16384;

// What a content is made of.
struct Kind {
  const char* id;  // of a page: what a real one has would say nothing to a test
  const char* name;
  const char* state;
  double share;  // of it that is there
  std::uint32_t generations;
  std::uint32_t peers;
};

constexpr Kind kKinds[] = {
    {"downloading", "holiday pictures", "downloading", 0.4, 600, 12},
    {"seeding", "debian-12.iso", "seeding", 1, 160, 3},
    {"large", "telescope", "downloading", 0.5, 100'000, 1000},
    {"hostile", kHostileName, "downloading", 0.3, 40, 4},
    {"searching", "abcdefghijklmnop", "searching", 0, 0, 0},
    {"paused", "album", "paused", 0.7, 300, 0},
    {"failed", "backup", "failed", 0.2, 300, 0},
    {"queued", "lectures", "queued", 0.1, 300, 0},
    {"moving", "archive", "moving", 1, 300, 0},
};

const Kind* kind_of(const std::string& id) {
  const auto* const found =
      std::ranges::find_if(kKinds, [&](const Kind& kind) { return id == kind.id; });
  return found == std::end(kKinds) ? nullptr : found;
}

Json details_of(const Kind& kind) {
  const std::uint64_t rank = std::uint64_t{kind.generations} * 64;
  Json json = {
      {"content_id", kind.id},
      {"name", kind.name},
      {"state", kind.state},
      {"bytes", kind.generations == 0 ? Json() : Json(kind.generations * kGenerationBytes)},
      {"complete", kind.share >= 1},
      {"rank", static_cast<std::uint64_t>(kind.share * static_cast<double>(rank))},
      {"rank_total", rank},
      {"share", kind.share},
      {"eta_seconds", kind.share < 1 && kind.peers > 0 ? Json(754.0) : Json()},
      {"peers", kind.peers},
      {"down_rate", kind.share < 1 && kind.peers > 0 ? 3.2e6 : 0},
      {"up_rate", kind.peers > 0 ? 1.1e6 : 0},
      {"from_origins", Json::array()},
      {"bytes_from_origins", 0},
      {"bytes_from_peers", 0},
      {"bytes_redundant", 0},
      {"bytes_refused", 0},
      {"kind", "download"},
      {"folder", "/srv/downloads"},
      {"seeding", "forever"}};
  if (std::string(kind.state) == "failed")
    json["failure"] = std::string("/srv/downloads/") + kHostileName + ": no space left";
  if (kind.peers > 0)
    json["link"] = "firn:" + std::string(52, 'a') + "/tr=" + std::string(52, 'b') +
                   "@tracker.example.org:4711/peer=192.0.2.7:40123";
  if (std::string(kind.id) == "hostile") {
    json["from_origins"] = {
        {{"url", "https://files.example/"}, {"bytes", 5'000'000}, {"trouble", nullptr}},
        {{"url", "s3://bucket/"}, {"bytes", 0}, {"trouble", kHostileAgent}}};
    json["bytes_from_origins"] = 5'000'000;
  }
  if (std::string(kind.state) == "searching")
    json["waits_for"] = "no peer is known that has the manifest";
  if (std::string(kind.state) == "queued")
    json.update({{"queue_position", 2}, {"priority", "high"}, {"saved", false}});
  if (std::string(kind.state) == "moving") {
    json.update({{"moving_to", std::string("/srv/") + kHostileName},
                 {"move_failure", "/srv/x: no space left"},
                 {"up_limit", 2'000'000},
                 {"uploaded", 1'500'000'000},
                 {"seed_ratio", 1.5},
                 {"seed_time", 86'400}});
  }
  return json;
}

PeerId id_of(std::uint32_t number) {
  PeerId id;
  for (int i = 0; i < 4; ++i)
    id.bytes[static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>((number * 2654435761U) >> (8 * i));
  return id;
}

PeerStatus peer_of(std::uint32_t number, std::uint64_t step, bool hostile) {
  constexpr PeerStatus::State kStates[] = {PeerStatus::State::kBoth, PeerStatus::State::kSends,
                                           PeerStatus::State::kReceives, PeerStatus::State::kIdle,
                                           PeerStatus::State::kSilent};
  PeerStatus peer;
  peer.id = id_of(number);
  peer.endpoint = fmt::format("192.0.2.{}:{}", number % 250, 4000 + number);
  peer.agent = hostile ? kHostileAgent : "firn/1.0";
  peer.authority = number == 0;
  peer.held = (number % 11) / 10.0;
  peer.bytes_received = (number + 1) * 1'000'000ULL + step * 40'000 * (1 + number % 7);
  peer.bytes_sent = number * 700'000ULL + step * 9'000;
  peer.down_rate = 40'000.0 * (1 + number % 7) + static_cast<double>(step % 5) * 1000;
  peer.up_rate = 9'000;
  peer.blocks_received = 1000 + step;
  peer.blocks_innovative = 1000 - number % 300 + step;
  peer.state = kStates[number % std::size(kStates)];
  return peer;
}

// Verified up to a mark that moves, beyond it generations in all states, then nothing.
void fill(core::SwarmView& view, const Kind& kind, std::uint64_t step) {
  constexpr FillingGeneration::State kStates[] = {
      FillingGeneration::State::kFilling,  FillingGeneration::State::kInFlight,
      FillingGeneration::State::kInFlight, FillingGeneration::State::kStalled,
      FillingGeneration::State::kDecoding, FillingGeneration::State::kQuarantined};
  const std::uint32_t count = kind.generations;
  // Every third generation of what is not there yet, so that neighbouring cells differ.
  std::mt19937 random(count);
  const double mark = kind.share * count;
  for (std::uint32_t g = 0; g < count; ++g) {
    const std::uint32_t dice = random() % 1000;
    if (kind.share >= 1 || g < mark * 0.9 || (g < 1.1 * mark && dice < 400 + (7 * step) % 300)) {
      view.verified.add(g);
    } else if (dice == 999) {
      view.given_up.add(g);
    } else if (g < 1.5 * mark && dice % 3 == 0 && kind.peers > 0) {
      FillingGeneration filling;
      filling.number = g;
      filling.blocks = 64;
      filling.rank = static_cast<std::uint32_t>((dice + step) % 64);
      filling.state = kStates[dice / 3 % std::size(kStates)];
      if (filling.state == FillingGeneration::State::kStalled)
        filling.still_for = 20 * core::kSecond;
      for (std::uint32_t s = 0; s < 1 + dice % 9; ++s)
        filling.senders.push_back({id_of((dice + s) % (kind.peers + 1)), 1 + filling.rank / 10});
      view.filling.push_back(std::move(filling));
    }
  }
}

// A folder whose files grow, or a single file.
ListedFiles files_of(const Kind& kind) {
  if (kind.generations == 0) return {};
  Info info;
  info.shape = {64, 16384, kind.generations * kGenerationBytes};
  const std::uint32_t count = std::string(kind.id) == "large" ? 999 : kind.generations / 20;
  for (std::uint64_t i = 0, at = 0; i < count; ++i) {
    const std::uint64_t end = info.shape.content_bytes * (i + 1) * (i + 1) / count / count;
    FileEntry& entry = info.files.emplace_back();
    entry.path = fmt::format("day {}/{}{}.jpg", i / 5, kind.name, i);
    entry.offset = at;
    entry.bytes = end - at;
    at = end;
  }
  return list_files(info);
}

core::SwarmView swarm_of(const Kind& kind, std::uint64_t step) {
  const bool hostile = std::string(kind.id) == "hostile";
  core::SwarmView view;
  for (std::uint32_t i = 0; i < kind.peers; ++i) view.peers.push_back(peer_of(i, step, hostile));
  view.generation_size = 64;
  view.last_blocks = 10;
  view.verified = view.given_up = core::GenerationSet(kind.generations);
  fill(view, kind, step);
  for (std::uint32_t i = 0; i < kind.peers / 5; ++i)
    view.bans.push_back({id_of(5000 + i), i % 2 == 0 ? "198.51.100.7" : "", 1 + i % 3,
                         static_cast<core::TimeUs>(600 - i % 500) * core::kSecond,
                         hostile ? kHostileAgent : "sent rows that are false"});
  return view;
}

}  // namespace

MadeUp::MadeUp(bool kinds, std::size_t others) {
  if (kinds)
    for (const Kind& kind : kKinds) contents_.push_back(details_of(kind));
  for (std::size_t i = 0; i < others; ++i) {
    Json other = details_of(kKinds[1]);
    other["content_id"] = fmt::format("other{}", i);
    other["name"] = fmt::format("series {} episode {}", i / 10, i % 10);
    contents_.push_back(std::move(other));
  }
}

Result<Json> MadeUp::contents() {
  ++steps_;
  return contents_;
}

Result<ContentFacts> MadeUp::content(const std::string& id) {
  Json* const details = find(id);
  if (details == nullptr)
    return Error{ErrorCode::kNotFound, "show " + id, "no content has this id"};
  ++steps_;
  ContentFacts facts;
  facts.details = *details;
  if (const Kind* const kind = kind_of(id)) {
    facts.swarm = swarm_of(*kind, steps_);
    facts.files = files_of(*kind);
  }
  return facts;
}

std::vector<ContentRate> MadeUp::rates() {
  std::vector<ContentRate> rates;
  for (const Kind& kind : kKinds)
    if (kind.peers > 0)
      rates.push_back({kind.id, 3e6 + static_cast<double>(steps_ % 9) * 2e5, 1.1e6});
  return rates;
}

Result<Json> MadeUp::add(const AddRequest& request) {
  return Error{ErrorCode::kBadInput, "add " + request.source, "nothing is added here"};
}

Result<Json> MadeUp::list() {
  return Json{{"contents", contents_}};
}

Result<Json> MadeUp::show(const std::string& which) {
  const Json* const details = find(which);
  if (details == nullptr) return Error{ErrorCode::kNotFound, "show " + which, "there is none"};
  return *details;
}

Result<Json> MadeUp::peers(const std::string& which) {
  return Json{{"content_id", which}, {"peers", Json::array()}, {"bans", Json::array()}};
}

Result<Json> MadeUp::files(const std::string& which, const content::FileChoice&) {
  return Json{{"content_id", which}, {"files", Json::array()}};
}

Result<Json> MadeUp::remove(const std::string& which, bool) {
  return put(which, "state", "removing");
}

Result<Json> MadeUp::play(const std::string&) {
  return Json{{"playlist", "http://127.0.0.1/playlist"}, {"files", Json::array()}};
}

Result<std::string> MadeUp::stream_url(const std::string&, const std::string&, const std::string&) {
  return std::string("http://127.0.0.1/playlist");
}

Result<Json> MadeUp::page() {
  return Json{{"url", "http://127.0.0.1/"}, {"token", "made-up"}};
}

Result<Json> MadeUp::stop() {
  return Json{{"stopping", true}};
}

Result<Json> MadeUp::limit(const std::string& which, const LimitChange& change) {
  if (which.empty()) return status();
  const auto limit = [](std::int64_t value) { return value > 0 ? Json(value) : Json(); };
  if (change.up) (void)put(which, "up_limit", limit(*change.up));
  if (change.down) (void)put(which, "down_limit", limit(*change.down));
  return show(which);
}

Result<Json> MadeUp::prioritize(const std::string& which, const std::string& priority) {
  return put(which, "priority", priority);
}

Result<Json> MadeUp::queue(const std::string& which, const std::string&) {
  return show(which);
}

Result<Json> MadeUp::move(const std::string& which, const std::string& folder, const std::string&) {
  return put(which, "folder", folder);
}

Result<Json> MadeUp::status() {
  return Json{{"up_limit", 1'000'000},
              {"down_limit", nullptr},
              {"schedule", "mon-fri 08:00-18:00 up=1M"},
              {"download_dir", "/srv/downloads"},
              {"max_downloads", 8},
              {"max_seeds", 100}};
}

Result<Json> MadeUp::watch(const std::string& folder, const std::string& output) {
  watched_.push_back({{"folder", folder}, {"output", output}});
  return watches();
}

Result<Json> MadeUp::unwatch(const std::string& folder) {
  std::erase_if(watched_.get_ref<Json::array_t&>(),
                [&](const Json& one) { return one["folder"] == folder; });
  return watches();
}

Result<Json> MadeUp::put(const std::string& which, const char* member, const Json& value) {
  Json* const details = find(which);
  if (details == nullptr) return Error{ErrorCode::kNotFound, "show " + which, "there is none"};
  (*details)[member] = value;
  return *details;
}

Json* MadeUp::find(const std::string& id) {
  const auto found = std::ranges::find_if(
      contents_, [&](const Json& content) { return content["content_id"] == id; });
  return found == contents_.end() ? nullptr : &*found;
}

}  // namespace firn::app
