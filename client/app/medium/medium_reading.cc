#include "client/app/medium/medium_reading.h"

#include <algorithm>

#include "proto/base/digest.h"
#include "proto/base/little_endian.h"

namespace firn::app {
namespace {

// Groups whose first frames are decoded for each candidate of the rates.
constexpr std::size_t kFitGroups = 6;
constexpr double kFitFactors[] = {1.0 / 9, 1.0 / 3, 1, 3, 9};
constexpr double kFitRateMax = 0.15;         // beyond, no code here reads
constexpr std::size_t kGroupsPerThread = 2;  // decoded between two looks at a request to stop

medium::Rates scaled(const medium::Rates& rates, double factor) {
  return {rates.insertion * factor, rates.deletion * factor, rates.substitution * factor};
}

}  // namespace

MediumReading::MediumReading(const MediumInput& input, const ReadingOptions& options)
    : input_(input), options_(options), threads_(std::max(1u, options.threads)) {}

// `what` it looks for, for people.
MarkScan MediumReading::scan_for(const char* what) const {
  MarkScan scan;
  scan.cancelled = options_.cancelled;
  if (options_.progress)
    scan.progress = [this, what](std::int64_t done, std::int64_t total) {
      options_.progress(what, static_cast<std::uint64_t>(done) / 8,
                        static_cast<std::uint64_t>(total) / 8);
    };
  return scan;
}

Result<FoundLabels> MediumReading::find_label(bool all) const {
  FoundLabels found;
  std::optional<Error> failed;
  MarkScan scan = scan_for("looking for a label");
  scan.on_mark = [&](const medium::FoundMark& mark) {
    ++found.marks;
    const std::int64_t at = mark.end.bit();
    const auto behind = static_cast<std::int64_t>(labels_.bits_behind());
    auto bits = input_.read(at - behind, at + behind);
    if (!bits.ok()) {
      failed = bits.error();
      return false;
    }
    const medium::Window window{std::max<std::int64_t>(0, at - behind), *bits};
    const auto label = labels_.read(window, mark.end);
    if (!label) return true;
    if (found.read == 0) {
      found.label = *label;
    } else if (!found.label.same_medium(*label)) {
      ++found.foreign;
    }
    ++found.read;
    return all;
  };
  const Status scanned = scan_marks(input_, medium::label_mark(), scan);
  if (failed) return *failed;
  if (!scanned.ok()) return scanned.error();
  if (found.read > 0) return found;
  return Error{ErrorCode::kCorrupt, "read " + input_.path(),
               found.marks == 0 ? "no label of a medium is in it: it is no medium, or a channel "
                                  "changed it more than labels survive"
                                : "marks of labels are in it, but no label can be read: a channel "
                                  "changed it more than labels survive"};
}

Status MediumReading::use(const medium::Label& label, const medium::Rates& rates) {
  auto inner = inner_ && label_.same_medium(label)
                   ? inner_->with_rates(rates)
                   : medium::SyncInnerCode::make(label.inner, label.word_bytes, rates);
  if (!inner.ok()) return inner.error();
  label_ = label;
  rates_ = rates;
  inner_ = *std::move(inner);
  reader_ = std::make_unique<medium::GroupReader>(label, inner_);
  return Done{};
}

Status MediumReading::find_groups() {
  marks_.clear();
  MarkScan scan = scan_for("looking for marks");
  scan.on_mark = [&](const medium::FoundMark& mark) {
    marks_.push_back(mark);
    return true;
  };
  return scan_marks(input_, reader_->mark(), scan);
}

Result<medium::GroupReading> MediumReading::read_group(const medium::GroupReader& reader,
                                                       const medium::FoundMark& mark,
                                                       std::uint32_t frames_max) const {
  const std::int64_t at = mark.end.bit();
  const auto first =
      std::max<std::int64_t>(0, at - static_cast<std::int64_t>(reader.bits_before()));
  auto bits = input_.read(first, at + static_cast<std::int64_t>(reader.bits_behind()));
  if (!bits.ok()) return bits.error();
  return reader.read({first, *bits}, mark.end, frames_max);
}

Result<std::vector<medium::GroupReading>> MediumReading::read_all(
    const medium::GroupReader& reader, std::span<const medium::FoundMark* const> marks,
    std::uint32_t frames_max) const {
  std::vector<Result<medium::GroupReading>> readings(
      marks.size(), Result<medium::GroupReading>(medium::GroupReading{}));
  threads_.run(marks.size(),
               [&](std::size_t i) { readings[i] = read_group(reader, *marks[i], frames_max); });
  std::vector<medium::GroupReading> groups;
  for (auto& reading : readings) {
    if (!reading.ok()) return reading.error();
    groups.push_back(*std::move(reading));
  }
  return groups;
}

MediumReading::Marks MediumReading::spread_marks(std::size_t count) const {
  Marks chosen;
  count = std::min(count, marks_.size());
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(&marks_[i * marks_.size() / count]);
  return chosen;
}

Result<FittedRates> MediumReading::fit() const {
  FittedRates best{rates_};
  double best_likelihood = 0;
  std::uint32_t best_words = 0;
  const auto marks = spread_marks(kFitGroups);
  for (const double factor : kFitFactors) {
    const medium::Rates rates = scaled(rates_, factor);
    if (rates.insertion > kFitRateMax || rates.deletion > kFitRateMax) continue;
    std::unique_ptr<const medium::GroupReader> scaled_reader;
    if (factor != 1) {  // *reader_ is that of 1
      auto inner = inner_->with_rates(rates);
      if (!inner.ok()) return inner.error();
      scaled_reader = std::make_unique<medium::GroupReader>(label_, *std::move(inner));
    }
    const auto readings = read_all(scaled_reader ? *scaled_reader : *reader_, marks, 1);
    if (!readings.ok()) return readings.error();
    double likelihood = 0;
    std::uint32_t words = 0;
    for (const medium::GroupReading& reading : *readings) {
      likelihood += reading.log_likelihood;
      words += reading.words;
    }
    // A channel that explains more words is the better one; of equals the likelier.
    if (words < best_words || (words == best_words && words > 0 && likelihood <= best_likelihood))
      continue;
    if (words == 0) continue;
    best = {rates, factor, words};
    best_likelihood = likelihood;
    best_words = words;
  }
  return best;
}

Status MediumReading::read_groups(RowJournal& journal) {
  Marks waiting;
  for (const medium::FoundMark& mark : marks_)
    if (!journal.has_group(mark.end.bit())) waiting.push_back(&mark);
  const std::size_t had = marks_.size() - waiting.size();
  const std::size_t at_once = kGroupsPerThread * threads_.threads();
  for (std::size_t at = 0; at < waiting.size(); at += at_once) {
    if (options_.progress) options_.progress("reading", had + at, marks_.size());
    if (options_.cancelled && options_.cancelled())
      return Error{ErrorCode::kCancelled, "read " + input_.path(), "stopped"};
    const auto marks = std::span(waiting).subspan(at, std::min(at_once, waiting.size() - at));
    const auto groups = read_all(*reader_, marks);
    if (!groups.ok()) return groups.error();
    for (std::size_t i = 0; i < marks.size(); ++i) {
      const Status kept = journal.add(marks[i]->end.bit(), (*groups)[i]);
      if (!kept.ok()) return kept;
    }
  }
  return Done{};
}

Result<std::vector<medium::GroupReading>> MediumReading::sample(std::size_t groups) const {
  return read_all(*reader_, spread_marks(groups));
}

Result<Digest> MediumReading::fingerprint() const {
  // All of them: two readings of one medium may differ in a burst, wherever it is.
  const auto bits = input_.digest(options_.cancelled);
  if (!bits.ok()) return bits.error();
  medium::Label label = label_;
  label.group = 0;
  std::uint8_t length[8];
  put_field(length, 0, input_.bits());
  Sha256 hash;
  hash.update(medium::label_to_bytes(label));
  hash.update(length);
  hash.update(bits->bytes);
  return hash.finish();
}

}  // namespace firn::app
