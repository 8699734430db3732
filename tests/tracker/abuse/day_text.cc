// The closing table of a day.
#include <fmt/format.h>

#include "tests/tracker/abuse/day.h"

namespace firn::tracker::test::abuse {
namespace {

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 100 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}
double mib(std::size_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

std::string line_of(const Day::Line& line) {
  const AttackCounts& c = line.counts;
  return fmt::format("{:34}{:>10}{:>10}{:>11}{:>11}{:>11}{:>11}{:>10.3f}{:>9.1f}\n", line.name,
                     c.calls, c.turned_away, c.requests, c.served, c.refused, c.held_back,
                     100 * line.honest.rate(), mib(line.bytes_most));
}

std::string honesty_of(const char* whose, const Honesty& h) {
  return fmt::format(
      "{}: {} announces, kept {:.4f} %; no connection {}, told to wait {} ({} ahead of time), "
      "refused {}; of {} answers where others are {:.3f} % name an honest one; of the peers named "
      "{:.1f} % are honest\n",
      whose, h.attempts(), 100 * h.rate(), h.no_connection, h.slowed, h.slowed_early, h.refused,
      h.with_others, percent(h.with_honest, h.with_others), percent(h.named_honest, h.named));
}

std::string fill_of(const char* when, const Host::Fill& fill) {
  return fmt::format(
      "{}: connections {}, contents {}, peers {} ({} in one content), manifests {} of {:.1f} MiB, "
      "half uploads {:.1f} "
      "MiB of {} prefixes, networks {}, prefixes {}\n",
      when, fill.connections, fill.swarms, fill.peers, fill.largest_swarm, fill.manifests,
      mib(fill.manifest_bytes), mib(fill.core.upload_bytes), fill.core.uploading_prefixes,
      fill.core.networks, fill.core.prefixes);
}

}  // namespace

std::string to_text(const DayOptions& options, const Day& day) {
  std::string text = fmt::format(
      "seed {}, {} h, scale {:.2f}\n{:34}{:>10}{:>10}{:>11}{:>11}{:>11}{:>11}{:>10}{:>9}\n",
      options.seed, std::chrono::duration_cast<std::chrono::hours>(options.lasts).count(),
      options.scale, "attack", "calls", "away", "requests", "served", "refused", "held back",
      "honest %", "MiB");
  for (const Day::Line& line : day.attacks) text += line_of(line);
  text += honesty_of("honest peers", day.honest);
  text += honesty_of("those next door to attackers", day.neighbours);
  text += honesty_of("honest peers in the hour after", day.quiet);
  const ManifestService& m = day.manifests;
  text += fmt::format("manifests: {} of {} read, {} of {} put\n", m.read, m.reads, m.put, m.puts);
  text += fill_of("most", day.most);
  text += fill_of("an hour after", day.after);
  text += fmt::format("behind for {:.2f} % of the time; attackers' peers an hour after: {}\n",
                      percent(day.strained_steps, day.steps), day.hostile_after);
  text += "MiB at the end of each two hours:";
  for (const std::size_t bytes : day.bytes) text += fmt::format(" {:.1f}", mib(bytes));
  return text + fmt::format("; most {:.1f}, an hour after {:.1f}\n", mib(day.bytes_most),
                            mib(day.bytes_after));
}

}  // namespace firn::tracker::test::abuse
