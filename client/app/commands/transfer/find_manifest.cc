#include "client/app/commands/transfer/find_manifest.h"

#include <optional>

#include "client/app/commands/transfer/running.h"
#include "client/app/session/standstill_words.h"

namespace firn::app {
namespace {

// How long trackers and peers have to answer with the manifest.
constexpr core::TimeUs kFindTime = 10 * core::kSecond;

}  // namespace

ExitCode find_manifest(const NetworkOptions& options, ContentSource& source, Console& console) {
  if (source.manifest) return ExitCode::kOk;
  auto core = core_options(options, source.trackers, source.peers);
  if (!core.ok()) return fail(console, core.error());
  if (core->trackers.empty() && core->peers.empty()) {
    console.error("unreachable",
                  "the link names no tracker and no peer that could have the manifest; name one "
                  "with --tracker or --peer, or give the manifest file",
                  source.content_id);
    return ExitCode::kNetwork;
  }
  auto driver_for = driver_options(options, {.codec = "cpu"}, 1);
  if (!driver_for.ok()) return fail(console, driver_for.error());
  ExitCode code = ExitCode::kOk;
  const auto driver = start_driver(*driver_for, console, code);
  if (!driver) return code;
  SessionPlan plan;
  plan.mode = SessionPlan::Mode::kManifestOnly;
  plan.content_id = source.content_id;
  plan.keys = source.keys();
  plan.core = *std::move(core);
  plan.core.publisher = source.publisher;
  ContentSession& session = driver->add(std::move(plan));
  core::TimeUs due = core::kNever;
  bool late = false;
  std::string why;
  std::optional<Error> foreign;
  driver->on_turn([&](core::TimeUs now) {
    if (due == core::kNever) due = now + kFindTime;
    if (now < due) return due;
    late = true;
    if (session.core().made()) {
      why = reason_of(session.core().facts().standstill(), now).text;
      if (const auto* one = session.core().facts().counters().foreign_manifest)
        foreign = one->error;
    }
    session.stop();
    return core::kNever;
  });
  code = driver->run();
  source.manifest = session.plan().manifest;
  if (source.manifest) return ExitCode::kOk;
  if (foreign) return fail(console, *foreign);
  if (code == ExitCode::kWrongIdentity || (code == ExitCode::kInterrupted && !late)) return code;
  console.error("unreachable",
                "no tracker and no peer sent the manifest within 10 s" +
                    (why.empty() ? std::string() : ": " + why) +
                    "; a manifest file in place of the link needs nobody (firn share -o X.firn "
                    "writes it)",
                source.content_id);
  return ExitCode::kNetwork;
}

}  // namespace firn::app
