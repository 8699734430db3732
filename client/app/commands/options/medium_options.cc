#include "client/app/commands/options/medium_options.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/app/console/quantities.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

std::string rough_time(double seconds) {
  return seconds < 1 ? "a second" : format_seconds(seconds);
}

}  // namespace

void add_rates_options(CLI::App& app, RatesOptions& options) {
  const CLI::Validator share = between(0.0, 0.5);
  auto* rate = app.add_option("--rate", options.rate,
                              "share of the bits that are lost, and as many gained: 0.01")
                   ->option_text("P")
                   ->check(share);
  auto* insertions = app.add_option("--insertions", options.insertions, "bits gained, for each bit")
                         ->option_text("P")
                         ->check(share);
  auto* deletions = app.add_option("--deletions", options.deletions, "bits lost, for each bit")
                        ->option_text("P")
                        ->check(share);
  app.add_option("--flips", options.flips, "bits flipped, for each bit")
      ->option_text("P")
      ->check(share);
  rate->excludes(insertions)->excludes(deletions);
}

Result<std::optional<medium::Rates>> rates_of(const RatesOptions& options) {
  const medium::Rates rates{options.insertions >= 0 ? options.insertions : options.rate,
                            options.deletions >= 0 ? options.deletions : options.rate,
                            options.flips};
  if (rates.insertion + rates.deletion >= 0.9)
    return Error{ErrorCode::kBadInput, "rates of a medium", "nearly no bit would pass"};
  if (rates == medium::Rates{}) return std::optional<medium::Rates>();
  return std::optional(rates);
}

void add_plan_options(CLI::App& app, PlanOptions& options) {
  add_rates_options(app, options.rates);
  app.add_option("--loss", options.loss, "chance of losing the content; default 1e-9")
      ->option_text("P")
      ->check(between(1e-15, 0.5));
  app.add_option("--missing", options.missing,
                 "share of the medium that may be missing besides: 0.1")
      ->option_text("SHARE")
      ->check(between(0.0, 0.9));
}

Result<medium::PlanRequest> plan_request(const PlanOptions& options) {
  const auto rates = rates_of(options.rates);
  if (!rates.ok()) return rates.error();
  if (!*rates)
    return Error{ErrorCode::kBadInput, "plan a medium",
                 "say what it does to its bits: --rate, or --insertions, --deletions, --flips"};
  medium::PlanRequest request;
  request.rates = **rates;
  request.loss_max = options.loss;
  request.missing = options.missing;
  return request;
}

std::string rates_text(const medium::Rates& rates) {
  return fmt::format("{:.3g} % of the bits lost, {:.3g} % gained, {:.3g} % flipped",
                     100 * rates.deletion, 100 * rates.insertion, 100 * rates.substitution);
}

void show_plan(const medium::Plan& plan, const MediumTimes& times, Console& console) {
  const medium::Label& label = plan.label;
  const auto row = [&](const char* what, const std::string& text) {
    if (!console.json()) console.print(fmt::format("{:<14} {}", what, text));
  };
  console.event({{"event", "plan"},
                 {"codeword_bits", label.inner.codeword_bits},
                 {"alphabet", label.inner.alphabet},
                 {"parity", label.word_bytes - label.data_bytes},
                 {"generations", plan.shape.generation_count()},
                 {"generation_size", plan.shape.generation_size},
                 {"block_bytes", plan.shape.block_bytes},
                 {"spare_rows", label.spare.rows},
                 {"spare_permille", label.spare.permille},
                 {"frames", label.place_count},
                 {"frame_loss", plan.frame_loss},
                 {"content_loss", plan.content_loss},
                 {"bits", plan.bits},
                 {"bits_per_content_bit", plan.bits_per_content_bit()},
                 {"write_seconds", times.write_seconds},
                 {"read_seconds", times.read_seconds},
                 {"threads", times.threads}});
  row("channel", rates_text(label.planned));
  row("inner code",
      fmt::format("{} bits for {} symbols, indel distance {}", label.inner.codeword_bits,
                  label.inner.alphabet, label.inner.distance));
  row("frames",
      fmt::format("{} of {} bytes, {} of them parity; {:.2g} of them lost", label.place_count,
                  label.word_bytes, label.word_bytes - label.data_bytes, plan.frame_loss));
  row("rows", fmt::format("{} generations of {} blocks of {}, {} spare rows each",
                          plan.shape.generation_count(), plan.shape.generation_size,
                          format_bytes(plan.shape.block_bytes),
                          label.spare.of(plan.shape.generation_size)));
  row("loss", fmt::format("{:.2g} of such contents", plan.content_loss));
  row("medium", fmt::format("{}, {:.3f} bits for each bit of the content",
                            format_bytes((plan.bits + 7) / 8), plan.bits_per_content_bit()));
  row("time",
      fmt::format("about {} to write, {} to read with {} here: an estimate, from a sample",
                  rough_time(times.write_seconds), rough_time(times.read_seconds),
                  times.threads == 1 ? "one thread" : fmt::format("{} threads", times.threads)));
}

}  // namespace firn::app
