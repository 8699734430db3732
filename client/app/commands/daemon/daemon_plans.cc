#include "client/app/commands/daemon/daemon_plans.h"

#include <algorithm>
#include <utility>

#include "client/app/commands/options/content_source.h"
#include "client/app/commands/transfer/planning.h"
#include "client/app/console/quantities.h"
#include "client/app/daemon/content_queue.h"
#include "client/content/find_folder.h"
#include "proto/base/limits.h"

namespace firn::app {
namespace {

// A descriptor of the caller's is another file here, or the daemon's own.
bool names_descriptor(const std::string& path) {
  return path.starts_with("/dev/") || path.starts_with("/proc/");
}

Result<ContentSource> source_of(const KeptContent& kept) {
  ContentSource source;
  if (!kept.link.empty()) {
    auto read = read_source(kept.link, kept.folder);
    if (!read.ok() || kept.manifest.empty()) return read;
    source = *std::move(read);
    if (source.manifest) return source;
  }
  auto manifest = parse_manifest(kept.manifest, kept.id);
  if (!manifest.ok()) return manifest.error();
  source.content_id = kept.id;
  source.trackers.insert(source.trackers.end(), manifest->trackers.begin(),
                         manifest->trackers.end());
  if (kept.link.empty()) {  // the user named its file
    source.origins = manifest->origins;
    if (manifest->publisher) source.publisher = PublicKey::from_bytes(manifest->publisher->key);
  }
  source.manifest = *std::move(manifest);
  return source;
}

// A time to stay goes on where an earlier run stopped, by the time that the content was seeded: the
// clock of the machine may be set meanwhile. All else begins anew.
core::SeedPolicy seeding_left(const KeptContent& kept, core::SeedPolicy policy) {
  if (policy.kind == core::SeedPolicy::Kind::kIdle) return policy;
  policy.duration =
      std::max<core::TimeUs>(0, policy.duration - kept.seeded_seconds * core::kSecond);
  return policy;
}

}  // namespace

Result<KeptContent> read_added(const AddRequest& request) {
  const std::string operation = "add " + request.source;
  if (names_descriptor(request.source))
    return Error{ErrorCode::kBadInput, operation,
                 "the daemon takes a manifest from a file alone: write it into one first"};
  if (request.folder.empty())
    return Error{ErrorCode::kBadInput, operation,
                 request.serve ? "its folder is missing: where do its files stand?"
                               : "its folder is missing, and neither --download-dir nor HOME of "
                                 "the daemon says where downloads go"};
  if (!request.folder.starts_with('/'))
    return Error{ErrorCode::kBadInput, operation, "its folder must be an absolute path"};
  if (const auto seeding = parse_seed_policy(request.seeding); !seeding.ok())
    return seeding.error();
  if (request.serve && (request.overwrite || request.repair || !request.files.empty()))
    return Error{ErrorCode::kBadInput, operation, "what is served is left as it is"};
  if (!request.as.empty())
    if (const Status fine = content::check_as(request.as); !fine.ok()) return fine.error();
  if (request.no_origin && !request.origins.empty())
    return Error{ErrorCode::kBadInput, operation, "origins do not go with no_origin"};
  if (request.origins.size() > limits::kOriginCountMax)
    return Error{ErrorCode::kBadInput, operation, "it has too many origins"};
  for (const std::string& origin : request.origins)
    if (const auto url = parse_origin(origin); !url.ok()) return url.error();
  auto source = read_source(request.source);
  if (!source.ok()) return source.error();
  // The daemon's own folder means nothing to a caller.
  if (source->from_file && !request.source.starts_with('/'))
    return Error{ErrorCode::kBadInput, operation, "a file's path must be absolute"};
  KeptContent kept;
  kept.id = source->content_id;
  kept.kind = request.serve ? KeptContent::Kind::kServe : KeptContent::Kind::kDownload;
  kept.folder = request.folder;
  kept.as = request.as;
  kept.overwrite = request.overwrite;
  kept.repair = request.repair;
  kept.paused = request.paused;
  kept.files = request.files;
  kept.origins = request.origins;
  kept.no_origin = request.no_origin;
  kept.seeding = request.seeding;
  kept.limits = request.limits.applied_to({});
  const auto priority = priority_of(request.priority);
  if (!priority)
    return Error{ErrorCode::kBadInput, operation, "its priority must be high, normal or low"};
  kept.priority = *priority;
  if (source->manifest) {
    const auto chosen = content::chosen_files(source->manifest->info, request.files);
    if (!chosen.ok()) return chosen.error();
    kept.manifest = source->manifest->file_bytes;
    if (request.serve) {
      const auto found =
          content::find_content(source->manifest->info, {request.folder, request.as});
      kept.folder = found.dir;
      kept.as = found.as;
    }
    kept.trusted = request.serve && request.trust;
    if (request.link.empty()) return kept;
    const std::vector<std::string> of_manifest = source->manifest->origins;
    source = read_source(request.link);
    if (!source.ok()) return source.error();
    if (source->content_id != kept.id)
      return Error{ErrorCode::kBadInput, operation, "its link is of another content"};
    // Its manifest may later be one that came from the network.
    for (const std::string& url : of_manifest)
      if (source->origins.size() < limits::kOriginCountMax &&
          std::ranges::find(source->origins, url) == source->origins.end())
        source->origins.push_back(url);
  }
  kept.link = to_text(Link{source->content_id, source->trackers, source->peers, source->publisher,
                           source->secret, source->origins});
  return kept;
}

namespace {

// The key of --sign need not be this content's.
std::string certificate_if_any(const Signer& signer, const Manifest& manifest, const PeerId& self) {
  const auto certificate = signer.certificate(manifest, self);
  return certificate.ok() ? *certificate : std::string();
}

}  // namespace

Result<SessionPlan> plan_kept(const NetworkOptions& network, const OriginOptions& origins,
                              const KeptContent& kept, const Signer& signer, const PeerId& self,
                              Console& console) {
  auto source = source_of(kept);
  if (!source.ok()) return source.error();
  if (source->manifest && source->manifest->info.is_private && !source->secret)
    source->secret = signer.own_secret(*source->manifest);
  auto plan = session_plan(*std::move(source), network, {}, kept.folder);
  if (!plan.ok()) return plan;
  OriginOptions of_content = origins;
  of_content.urls = kept.origins;
  of_content.none = kept.no_origin;
  if (const Status fine = plan_origins(of_content, plan->origins); !fine.ok()) return fine.error();
  const auto seeding = parse_seed_policy(kept.seeding);
  if (!seeding.ok()) return seeding.error();
  plan->core.seeding = seeding_left(kept, *seeding);
  const bool serves = kept.kind == KeptContent::Kind::kServe || kept.finished_at != 0;
  plan->as = kept.as;
  plan->overwrite = kept.overwrite;
  plan->repair = kept.repair;
  plan->files = kept.files;
  plan->mode = serves ? SessionPlan::Mode::kServe : SessionPlan::Mode::kDownload;
  plan->offer_manifest = serves;
  if (!serves) plan->mark = kept.mark;
  plan->certificate_for = [signer, self](const Manifest& manifest) {
    return certificate_if_any(signer, manifest, self);
  };
  plan->core.certificate_waits = !serves;
  if (!plan->manifest) return plan;
  if (serves) {
    const auto found = found_content(plan->manifest->info, {kept.folder, kept.as}, console);
    plan->dir = found.dir;
    plan->as = found.as;
  }
  plan->core.certificate = plan->certificate_for(*plan->manifest);
  return plan;
}

}  // namespace firn::app
