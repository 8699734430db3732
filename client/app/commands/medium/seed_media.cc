#include "client/app/commands/medium/seed_media.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "client/app/commands/medium/medium_words.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/medium_options.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/commands/transfer/stop_request.h"
#include "client/app/medium/medium_journal.h"
#include "client/app/medium/restoring.h"

namespace firn::app {
namespace {

// One content's way from media to a session, in steps.
class MediaSeeder {
 public:
  MediaSeeder(const SeedMediaRequest& request, Console& console)
      : request_(request), console_(console), signer_(Signer::for_serving(request.signing)) {}

  ExitCode run() {
    auto options = driver_options(request_.network, request_.codec, 1);
    if (!options.ok()) return fail(console_, options.error());
    if (const Status ready = prepare(); !ready.ok()) return fail(console_, ready.error());
    const StopRequest stop;
    ExitCode code = ExitCode::kOk;
    const auto driver = start_driver(*options, console_, code);  // before long work
    if (!driver) return code;
    Status done = read_media();
    if (done.ok()) done = restore();
    if (!done.ok())
      return fail_or_stop(
          console_, done.error(),
          keeps_ ? "what was read is kept, and the same command goes on" : "nothing was read");
    auto plan = make_plan(driver->id());
    if (!plan.ok()) return fail(console_, plan.error());
    media_.clear();  // others may have the journals
    report();
    driver->add(*std::move(plan));
    driver->on_turn([&](core::TimeUs) {
      if (stop.requested()) driver->stop();  // it came before the loop took signals
      return core::kNever;
    });
    code = driver->run();
    // As for every peer that serves until it is interrupted.
    return code == ExitCode::kInterrupted ? ExitCode::kOk : code;
  }

 private:
  // What needs no medium: errors in what was told are found before hours of reading.
  Status prepare() {
    if (!signer_.ok()) return signer_.error();
    std::set<std::string> files;
    for (const std::string& path : request_.media) {
      std::error_code missing;  // reading will say so
      if (!files.insert(std::filesystem::weakly_canonical(path, missing).string()).second)
        return Error{ErrorCode::kBadInput, "read " + path, "named twice"};
    }
    if (!request_.source.empty()) {
      auto source = read_source(request_.source, request_.dir);
      if (!source.ok()) return source.error();
      source_ = *std::move(source);
    }
    if (const Status may = check_manifest(); !may.ok()) return may;
    const auto core = core_options(request_.network, source_.trackers, source_.peers);
    return core.ok() ? Status(Done{}) : core.error();
  }

  // Once the manifest is known: the publisher, the secret, and the key that was named.
  Status check_manifest() {
    if (const Status right = require_publisher(source_, {}); !right.ok()) return right;
    if (!source_.manifest) return Done{};
    const Manifest& manifest = *source_.manifest;
    if (manifest.info.is_private && !source_.secret) source_.secret = signer_->own_secret(manifest);
    if (const Status may = require_secret(source_); !may.ok()) return may;
    const auto speaks = signer_->certificate(manifest, PeerId{});  // tells whether the key fits
    return speaks.ok() ? Status(Done{}) : speaks.error();
  }

  Status read_media() {
    options_ = {request_.codec.alone(), show_progress(console_), StopRequest::poll()};
    for (const std::string& path : request_.media) {
      MediumSource source{path, request_.dir, {}, {}};
      if (!request_.source.empty()) source.expected = source_.content_id;
      if (!media_.empty()) source.expected = media_.front().label().content;
      auto journal = read_medium_journal(
          source, options_, {misfit_warning(path, false, console_), [this] { keeps_ = true; }});
      if (!journal.ok()) return journal.error();
      media_.push_back(*std::move(journal));
    }
    source_.content_id = media_.front().label().content;
    return add_earlier_journals(request_.dir, media_);
  }

  std::span<const MediumJournal> named() const {
    return std::span(media_).first(request_.media.size());
  }

  // From the media, or from what an earlier run left.
  Status find_manifest() {
    if (source_.manifest) return Done{};
    auto manifest = restore_manifest(media_);
    if (manifest.ok()) {
      source_.manifest = *std::move(manifest);
    } else {
      source_.manifest = kept_manifest(request_.dir, source_.content_id);
    }
    if (!source_.manifest) {
      Error error = manifest.error();
      error.detail += "; give the content's manifest: firn seed X.firn --from-medium ...";
      return error;
    }
    const auto& trackers = source_.manifest->trackers;
    source_.trackers.insert(source_.trackers.end(), trackers.begin(), trackers.end());
    return Done{};
  }

  Status restore() {
    if (const Status found = find_manifest(); !found.ok()) return found;
    if (const Status may = check_manifest(); !may.ok()) return may;
    const Manifest& manifest = *source_.manifest;
    RestoringOptions options;
    options.as = request_.as;
    options.cancelled = StopRequest::poll();
    options.progress = [this](std::uint64_t done, std::uint64_t total) {
      if (options_.progress) options_.progress("decoding", done, total);
    };
    const auto restored = restore_content(manifest, media_, request_.dir, options);
    if (!restored.ok()) return restored.error();
    restored_ = *restored;
    losses_ = losses_text(named());
    console_.clear_progress();
    console_.event(medium_read_event(manifest.id, named(), restored_));
    return Done{};
  }

  void report() const {
    const Manifest& manifest = *source_.manifest;
    warn_of_false_rows(restored_, manifest.id, console_);
    std::string text =
        fmt::format("{}: {}; {} of {} generations are whole and verified", manifest.info.name,
                    losses_, restored_.whole(), restored_.generations);
    if (!restored_.complete)
      text += fmt::format(
          ", and {} rows of the others are there. It serves these, and takes from the swarm what "
          "they lack",
          restored_.rows_kept);
    console_.info(text, manifest.id);
  }

  // A peer that holds a part does not speak for the authority, as others would wait for it to judge
  // what it does not know.
  Result<std::string> certificate(const PeerId& self) const {
    auto certificate = signer_->certificate(*source_.manifest, self);
    if (!certificate.ok() || certificate->empty() || restored_.complete) return certificate;
    console_.info(
        "this peer could speak for the content's authority; it does not, as it lacks generations",
        source_.content_id);
    return std::string();
  }

  Result<SessionPlan> make_plan(const PeerId& self) const {
    auto core = core_options(request_.network, source_.trackers, source_.peers);
    if (!core.ok()) return core.error();
    const Manifest* const content = &*source_.manifest;
    if (const Status fit = signer_->check_given({content}, self); !fit.ok()) return fit.error();
    auto speaks = certificate(self);
    if (!speaks.ok()) return speaks.error();
    core->certificate = *std::move(speaks);
    core->seeding.kind = core::SeedPolicy::Kind::kForever;
    SessionPlan plan;
    plan.mode = restored_.complete ? SessionPlan::Mode::kServe : SessionPlan::Mode::kDownload;
    plan.content_id = source_.content_id;
    plan.keys = source_.keys();
    plan.manifest = source_.manifest;
    plan.dir = request_.dir;
    plan.as = request_.as;
    plan.trust = true;  // it has just been verified
    plan.offer_manifest = true;
    plan.origins.from_link = source_.origins;
    if (const Status fine = plan_origins(request_.origins, plan.origins); !fine.ok())
      return fine.error();
    plan.core = *std::move(core);
    return plan;
  }

  const SeedMediaRequest& request_;
  Console& console_;
  const Result<Signer> signer_;
  ContentSource source_;
  ReadingOptions options_;
  std::vector<MediumJournal> media_;  // those that were named first
  bool keeps_ = false;                // something that was read is kept for another run
  Restored restored_;
  std::string losses_;
};

}  // namespace

ExitCode seed_from_media(const SeedMediaRequest& request, Console& console) {
  return MediaSeeder(request, console).run();
}

}  // namespace firn::app
