#include "client/app/commands/medium/medium_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/app/commands/options/medium_options.h"

namespace firn::app {
namespace {

struct FrameCounts {
  std::uint64_t written = 0, lost = 0, failed = 0;
};

FrameCounts frames_of(std::span<const MediumJournal> media) {
  FrameCounts counts;
  for (const MediumJournal& medium : media) {
    const std::uint64_t written = medium.label().place_count;
    counts.written += written;
    counts.lost += written - std::min(written, medium.rows->frames_read());
    counts.failed += medium.rows->frames_lost();
  }
  return counts;
}

}  // namespace

Json medium_read_event(const ContentId& content, std::span<const MediumJournal> media,
                       const Restored& restored) {
  const FrameCounts frames = frames_of(media);
  return {{"event", "medium_read"},
          {"content_id", content.text()},
          {"complete", restored.complete},
          {"media", media.size()},
          {"frames", frames.written},
          {"frames_lost", frames.lost},
          {"frames_failed", frames.failed},
          {"generations", restored.generations},
          {"generations_decoded", restored.decoded},
          {"generations_had", restored.had},
          {"generations_false", restored.false_ones},
          {"rows_missing", restored.rows_missing},
          {"rows_kept", restored.rows_kept}};
}

std::string losses_text(std::span<const MediumJournal> media) {
  const FrameCounts frames = frames_of(media);
  return fmt::format("{} of {} frames lost ({:.2g} %)", frames.lost, frames.written,
                     100.0 * static_cast<double>(frames.lost) /
                         static_cast<double>(std::max<std::uint64_t>(frames.written, 1)));
}

OnMisfit misfit_warning(const std::string& path, bool told, Console& console) {
  return [path, told, &console](const medium::Rates& fitted, const medium::Rates& assumed) {
    console.warning(
        fmt::format("{}: the bits fit a channel with {}; {} were {}. It is read as they fit", path,
                    rates_text(fitted), told ? "told" : "planned", rates_text(assumed)));
  };
}

void warn_of_false_rows(const Restored& restored, const ContentId& content, Console& console) {
  if (restored.false_media && restored.false_ones == 0)
    console.warning(
        "a medium, of these or of an earlier run, was written from other bytes: its rows are left "
        "out where they are false, and none is used that the manifest does not prove",
        content);
  if (restored.false_ones == 0) return;
  console.warning(
      fmt::format("{} of {} generations are false although all their rows were read and passed "
                  "their checks: the media were written from other bytes. No row of theirs is used "
                  "that the manifest does not prove",
                  restored.false_ones, restored.generations),
      content);
}

}  // namespace firn::app
