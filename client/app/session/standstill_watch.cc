#include "client/app/session/standstill_watch.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "client/app/console/quantities.h"
#include "client/app/session/standstill_words.h"
#include "proto/content/content_secret.h"

namespace firn::app {
namespace {

// A publisher whose envelope a tracker has lost brings it with its next announce.
constexpr core::TimeUs kForeignTime = 30 * core::kSecond;

}  // namespace

core::TimeUs StandstillWatch::foreign_due(const core::ForeignManifest* foreign) const {
  if (foreign == nullptr || foreign->others_wait || plan_.timeout != core::kNever)
    return core::kNever;
  return foreign->since + kForeignTime;
}

Reason StandstillWatch::waits_for(const core::SwarmCore& core, core::TimeUs now) const {
  if (!patience_.quiet(progressed_at(core), now)) return {};
  Reason reason = reason_of(core.standstill(), now, origins_.standing());
  reason.text = without_secrets(reason.text);
  return reason;
}

std::optional<ExitCode> StandstillWatch::look(const core::SwarmCore& core, core::TimeUs now) {
  const core::TimeUs progressed = progressed_at(core);
  if (patience_.goes_on(progressed, now)) {
    host_.console.event(about(standstill_event("over", "it goes on", 0), plan_.content_id));
    host_.console.info(plan_.name() + " goes on", plan_.content_id);
  }
  if (!patience_.due(progressed, now)) return std::nullopt;
  const core::Standstill standstill = core.standstill();
  const Reason reason = reason_of(standstill, now, origins_.standing());
  const double quiet = 1e-6 * static_cast<double>(now - progressed);
  if (patience_.review(reason, progressed, now)) {
    host_.console.event(about(standstill_event(reason.name, reason.text, quiet), plan_.content_id));
    host_.console.warning(fmt::format("{}: nothing has come for {}: {}", plan_.name(),
                                      format_seconds(std::floor(quiet)), reason.text),
                          plan_.content_id);
  }
  if (!patience_.over(progressed, now)) return std::nullopt;
  if (const auto* const foreign = core.counters().foreign_manifest) {
    host_.console.error(foreign->error, plan_.content_id);
    return exit_code_of(foreign->error);
  }
  host_.console.error(
      "timeout",
      fmt::format("get {}: no progress for {}: {}; the same command goes on where it stopped",
                  plan_.name(), format_duration(plan_.timeout), reason.text),
      plan_.content_id);
  const bool for_disk = standstill.kind == core::Standstill::Kind::kStorePaused;
  return for_disk ? ExitCode::kDisk : ExitCode::kNetwork;
}

}  // namespace firn::app
