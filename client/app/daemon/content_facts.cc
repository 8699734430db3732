#include "client/app/daemon/content_facts.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "client/app/daemon/daemon_content.h"
#include "client/content/division.h"
#include "proto/content/link.h"
#include "proto/content/origin_url.h"

namespace firn::app {
namespace {

const char* kind_of(const FileEntry& entry) {
  if (entry.kind == FileEntry::Kind::kFolder) return "folder";
  return entry.kind == FileEntry::Kind::kLink ? "link" : "file";
}

Json share_of(const Info& info, std::uint32_t file, const std::vector<bool>& verified) {
  const std::uint64_t bytes = info.files[file].bytes;
  if (verified.empty() || bytes == 0) return {};
  return static_cast<double>(content::bytes_in(info, file, verified)) / static_cast<double>(bytes);
}

// `chosen`: a flag for each file; empty: all. `verified`: per generation, whether it is there;
// empty: that is not known.
Json files_json(const Info& info, const std::string& name, const std::vector<bool>& chosen,
                const std::vector<bool>& verified) {
  Json files = Json::array();
  for (std::uint32_t file = 0; file < info.files.size(); ++file) {
    const FileEntry& entry = info.files[file];
    files.push_back({{"number", file + 1},
                     {"path", info.single_file ? name : entry.path},
                     {"kind", kind_of(entry)},
                     {"bytes", entry.bytes},
                     {"share", share_of(info, file, verified)},
                     {"chosen", content::is_chosen(chosen, file)}});
  }
  const std::vector<FileEntry> entries = content::chosen_entries(info, chosen);
  return {{"files", std::move(files)},
          {"chosen_files", entries.size()},
          {"chosen_bytes", content::bytes_of(entries)}};
}

Json time_or_null(std::int64_t seconds) {
  return seconds == 0 ? Json() : Json(seconds);
}

// The link that leads others to the content; null: a private content, which only members may share.
// It names the publisher that this user asked for: receivers trust that key's origins, and anybody
// may have signed a manifest from the network.
Json link_of(const SessionPlan& plan, std::vector<Address> trackers,
             std::vector<Address> addresses) {
  if (plan.manifest->info.is_private) return {};
  return to_text(Link{plan.content_id,
                      std::move(trackers),
                      std::move(addresses),
                      plan.core.publisher,
                      {},
                      plan.origins.from_link});
}

}  // namespace

std::optional<ChosenPart> chosen_part(const Info& info, const content::FileChoice& choice) {
  const auto chosen = content::chosen_files(info, choice);
  if (!chosen.ok() || content::all_chosen(*chosen)) return std::nullopt;
  const std::vector<FileEntry> entries = content::chosen_entries(info, *chosen);
  return ChosenPart{entries.size(), info.files.size(), content::bytes_of(entries)};
}

Json part_json(const std::optional<ChosenPart>& part) {
  if (!part) return Json::object();
  return {
      {"chosen_files", part->files}, {"chosen_bytes", part->bytes}, {"all_files", part->all_files}};
}

Result<std::optional<ChosenPart>> chosen_part(const KeptContent& kept,
                                              const content::FileChoice& choice) {
  if (kept.manifest.empty()) return std::optional<ChosenPart>();
  const auto manifest = parse_manifest(kept.manifest, kept.id);
  if (!manifest.ok()) return manifest.error();
  if (const auto fits = content::chosen_files(manifest->info, choice); !fits.ok())
    return fits.error();
  return chosen_part(manifest->info, choice);
}

Result<Json> files_json(const KeptContent& kept, const std::string& name, ContentSession* session) {
  const auto manifest = parse_manifest(kept.manifest, kept.id);
  if (kept.manifest.empty() || !manifest.ok())
    return Error{ErrorCode::kNotFound, "list the files of " + name,
                 "its manifest has not come yet"};
  const Info& info = manifest->info;
  std::vector<bool> chosen, verified;
  if (session != nullptr && session->running()) {
    chosen = session->chosen();
    const core::GenerationSet there = session->core().facts().view().verified;
    for (std::uint32_t g = 0; g < there.size(); ++g) verified.push_back(there.contains(g));
  } else {
    if (auto kept_choice = content::chosen_files(info, kept.files); kept_choice.ok())
      chosen = *std::move(kept_choice);
    if (kept.finished_at != 0) verified = content::wanted_generations(info, chosen);
  }
  Json json = {{"content_id", kept.id.text()}, {"name", name}};
  json.update(files_json(info, name, chosen, verified));
  return json;
}

Json kept_json(const KeptContent& kept) {
  Json json = {{"kind", kept.kind == KeptContent::Kind::kServe ? "serve" : "download"},
               {"folder", kept.folder},
               {"seeding", kept.seeding},
               {"added_at", kept.added_at},
               {"finished_at", time_or_null(kept.finished_at)}};
  if (!kept.as.empty()) json["as"] = kept.as;
  if (!kept.files.empty()) json["choice"] = kept.files.texts();
  if (kept.no_origin) json["no_origin"] = true;
  for (const std::string& text : kept.origins)
    if (const auto url = parse_origin(text); url.ok()) json["origins"].push_back(url->shown());
  if (!kept.other_folder.empty())
    json[kept.move == KeptContent::Move::kClear ? "moving_from" : "moving_to"] = kept.other_folder;
  return json;
}

Json ways_to_it(ContentSession* session, const DaemonHost& host) {
  Json ways = Json::object();
  std::vector<Address> trackers;
  if (session != nullptr) {
    trackers = session->trackers().addresses();
    ways["trusted"] = session->plan().trust;
    const auto announced = session->trackers().announced();
    ways["announced"] = session->running() && announced ? Json(*announced) : Json();
  }
  const std::vector<Address> addresses = host.addresses();
  ways["trackers"] = ways["addresses"] = Json::array();
  for (const Address& one : trackers) ways["trackers"].push_back(to_text(one));
  for (const Address& one : addresses) ways["addresses"].push_back(to_text(one));
  if (session != nullptr && session->plan().manifest)
    ways["link"] = link_of(session->plan(), trackers, addresses);
  return ways;
}

}  // namespace firn::app
