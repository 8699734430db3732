#include "client/app/origin/origin_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace firn::app {

using core::DecodeOutcome;

OriginRuns::OriginRuns(std::vector<Origin> origins, const Info& info,
                       std::shared_ptr<Transfers> transfers, std::function<void()> wake,
                       OriginEvents& events)
    : info_(info), transfers_(std::move(transfers)), wake_(std::move(wake)), events_(events) {
  for (Origin& origin : origins)
    origins_.emplace_back(std::move(origin), info_.shape.generation_count());
}

OriginRuns::~OriginRuns() {
  for (const auto& run : runs_) cancel(*run);
}

// --- what is asked for ---

std::optional<std::size_t> OriginRuns::choose(std::uint32_t generation, core::TimeUs now) {
  const auto reluctance = [this](std::size_t i) {
    const auto under_way = std::ranges::count_if(
        runs_, [i](const auto& run) { return run->origin == i && !run->failed; });
    const Asked& origin = origins_[i];
    return std::tuple(under_way, !origin.health.trouble().empty(), origin.pace);
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    const std::size_t candidate = (next_origin_ + i) % origins_.size();
    const Asked& origin = origins_[candidate];
    if (!origin.health.well(now) || origin.lacks.contains(generation)) continue;
    if (!best || reluctance(candidate) < reluctance(*best)) best = candidate;
  }
  if (best) next_origin_ = *best + 1;
  return best;
}

void OriginRuns::fetch(const core::FetchFromOrigin& asked, core::TimeUs now) {
  auto run = std::make_unique<Run>();
  run->first = asked.first;
  run->count = asked.count;
  run->began = now;
  run->outcomes.resize(asked.count);
  std::vector<std::uint64_t> sizes;
  for (std::uint32_t g = asked.first; g < asked.first + asked.count; ++g)
    sizes.push_back(info_.shape.bytes_in_generation(g));
  run->bytes = std::make_shared<RunBytes>(sizes, wake_);
  run->bytes->hold(paused_);
  if (const auto origin = choose(asked.first, now)) {
    run->origin = *origin;
    std::uint32_t count = 1;  // of those that it has
    while (count < asked.count && !origins_[*origin].lacks.contains(asked.first + count)) ++count;
    for (const OriginPiece& piece : origin_pieces(info_, asked.first, count))
      run->pieces.push_back({.what = piece});
    events_.debug(fmt::format("generations {} to {} are asked of {}", asked.first,
                              asked.first + count - 1, origins_[*origin].shown));
  } else {
    fail(*run);
  }
  runs_.push_back(std::move(run));
  step(now);
}

void OriginRuns::written(std::uint32_t generation, DecodeOutcome outcome) {
  for (const auto& run : runs_) {
    if (generation < run->first || generation - run->first >= run->handed) continue;
    if (auto& known = run->outcomes[generation - run->first]; !known) {
      known = outcome;
      return;
    }
  }
}

void OriginRuns::pause(bool paused) {
  paused_ = paused;
  for (const auto& run : runs_) run->bytes->hold(paused);
}

// --- as time goes on ---

void OriginRuns::step(core::TimeUs now) {
  for (const auto& run : runs_) look(*run, now);
  for (const auto& run : runs_) go_on(*run, now);
  std::erase_if(runs_, [](const auto& run) { return run->over(); });
  look_whether_open(now);
}

core::TimeUs OriginRuns::next_wake() const {
  if (open_) return core::kNever;
  core::TimeUs at = core::kNever;
  for (const Asked& origin : origins_)
    if (!origin.lacks.full()) at = std::min(at, origin.health.rests_until());
  return at;
}

void OriginRuns::look_whether_open(core::TimeUs now) {
  const bool open =
      std::ranges::any_of(origins_, [now](const Asked& one) { return one.can_be_asked(now); });
  if (std::exchange(open_, open) != open) events_.open(open);
}

void OriginRuns::look(Run& run, core::TimeUs now) {
  if (const std::uint64_t received = run.bytes->received(); received != run.received) {
    run.received = received;
    progressed_at_ = now;
  }
  take_news(run, now);
}

// A run fails if it would have to wait for an origin that rests, so that another origin is asked;
// or if none of its generations is wanted any more.
void OriginRuns::go_on(Run& run, core::TimeUs now) {
  const bool idle = std::ranges::all_of(run.pieces, [](const Piece& one) { return one.id == 0; });
  bool wanted = false;
  for (std::uint32_t i = run.handed; i < run.count; ++i) wanted |= events_.wants(run.first + i);
  const bool waits = idle && !run.pieces.empty() && !origins_[run.origin].health.well(now);
  if (!run.failed && !run.pieces.empty() && (waits || !wanted)) fail(run);
  hand_over(run);
  // All has come that was asked for; the origin lacks the rest.
  if (!run.failed && run.pieces.empty() && run.handed < run.count) fail(run);
  answer(run, now);
  if (origins_[run.origin].health.well(now)) ask(run, now);
}

void OriginRuns::take_news(Run& run, core::TimeUs now) {
  std::vector<Failure> failures;
  std::erase_if(run.pieces,
                [&](Piece& piece) { return piece.id != 0 && has_ended(run, piece, failures); });
  for (const Failure& failure : failures) transfer_failed(run, failure, now);
}

// Whether the piece can be removed from the run: it is complete, or the run has failed.
bool OriginRuns::has_ended(const Run& run, Piece& piece, std::vector<Failure>& failures) {
  Asked& origin = origins_[run.origin];
  const PieceSink::News news = piece.sink->news();
  if (!news.validator.empty()) origin.validators.try_emplace(piece.what.file, news.validator);
  if (!news.end) return false;
  --origin.transfers;
  piece.id = 0;
  piece.what.range.first += news.taken;
  piece.what.range.count -= news.taken;
  piece.what.at += news.taken;
  const bool whole = piece.what.range.count == 0;
  if (news.end->fault == Fault::kNone || (news.end->fault == Fault::kPassing && whole)) {
    origin.transfers_max = std::min(origin.transfers_max + 1, kTransfersMax);
    ++origin.ended_well;
    return true;
  }
  failures.push_back({piece, news.taken, *news.end});
  return whole || run.failed;
}

void OriginRuns::transfer_failed(Run& run, const Failure& failure, core::TimeUs now) {
  if (failure.end.fault == Fault::kCancelled) return;  // by this class
  Asked& origin = origins_[run.origin];
  events_.debug(failure.end.status.error().message());
  const bool refused = failure.end.fault == Fault::kPassing && !failure.end.retry_after_s;
  const auto bytes_expected =
      kSlow * static_cast<std::uint64_t>(now - failure.piece.began) / core::kSecond;
  if (refused && failure.taken > bytes_expected) return make_way(run, failure.piece);
  if (refused && !run.failed && asks_for_less(run, failure.piece)) return;
  if (origin.health.is_of_file(failure.end.fault)) {
    file_failed(run, failure.piece.what.file, failure.end.status.error(), now);
  } else {
    origin.transfers_max = 1;
    warn(origin.health.failed(failure.end, run.began, now));
    tell_lacking();
  }
  fail(run);
}

void OriginRuns::file_failed(const Run& run, std::uint32_t file, const Error& why,
                             core::TimeUs now) {
  Asked& origin = origins_[run.origin];
  if (!origin.bad_files.insert(file).second) return;
  const FileEntry& entry = info_.files[file];
  const std::uint64_t each = info_.shape.generation_bytes();
  for (std::uint64_t g = entry.offset / each; g * each < entry.offset + entry.bytes; ++g)
    origin.lacks.add(static_cast<std::uint32_t>(g));
  warn(origin.health.file_failed(entry.path, why, run.began, now));
  tell_lacking();
}

// Of an origin that is never asked again nothing is had.
void OriginRuns::tell_lacking() {
  core::GenerationSet had(info_.shape.generation_count());
  for (const Asked& origin : origins_)
    if (origin.health.rests_until() != core::kNever) had.add_all(origin.lacks.complement());
  events_.lack(had.complement());
}

// Some servers take one connection, or few. If an origin refuses a transfer while others go on, it
// takes as many as these. The refused piece is asked for again when one of them ends. False: the
// origin takes none at all.
bool OriginRuns::asks_for_less(Run& run, const Piece& refused) {
  make_way(run, refused);
  Asked& origin = origins_[run.origin];
  if (origin.transfers == 0 && origin.ended_well == refused.ended_well_before) return false;
  origin.transfers_max = std::clamp<std::size_t>(origin.transfers, 1, origin.transfers_max);
  return true;
}

// Cancels the transfers behind `piece` that need room beyond what there is. Room becomes free only
// when `piece` has come, and the origin may refuse `piece` while the others hold its connections.
void OriginRuns::make_way(Run& run, const Piece& piece) {
  for (const Piece& other : run.pieces) {
    const std::uint64_t end = other.what.at + other.what.range.count;
    if (other.id != 0 && other.what.at > piece.what.at && end > run.bytes->room_end())
      transfers_->cancel(other.id);
  }
}

// Generations that have come whole are handed over before.
void OriginRuns::fail(Run& run) {
  hand_over(run);
  cancel(run);
}

// Pieces whose transfers are under way stay in the run until these have ended.
void OriginRuns::cancel(Run& run) {
  run.failed = true;
  run.bytes->close();
  std::erase_if(run.pieces, [](const Piece& piece) { return piece.id == 0; });
  for (const Piece& piece : run.pieces) transfers_->cancel(piece.id);
}

void OriginRuns::hand_over(Run& run) {
  if (run.failed) return;
  while (std::shared_ptr<Buffer> data = run.bytes->take_next())
    events_.came(run.first + run.handed++, std::move(data));
}

// Adds room for generations, and begins or resumes the transfers of pieces within the room.
void OriginRuns::ask(Run& run, core::TimeUs now) {
  if (run.failed || paused_) return;
  const std::uint64_t rooms_max =
      std::max<std::uint64_t>(kRoomBytes / info_.shape.generation_bytes(), 2);
  while (run.bytes->rooms() < run.count && run.bytes->rooms() - run.answered < rooms_max) {
    const auto g = run.first + static_cast<std::uint32_t>(run.bytes->rooms());
    std::shared_ptr<Buffer> room = events_.take_buffer(g);
    std::ranges::fill(room->bytes().subspan(info_.shape.bytes_in_generation(g)), 0);
    run.bytes->add_room(std::move(room));
  }
  const Asked& origin = origins_[run.origin];
  std::size_t under_way = 0;
  for (Piece& piece : run.pieces) {
    if (piece.what.at >= run.bytes->room_end() || under_way == kPiecesMax) break;
    ++under_way;
    if (piece.id != 0) {
      if (piece.sink->may_go_on()) transfers_->resume(piece.id);
    } else if (origin.transfers < origin.transfers_max) {
      begin(run, piece, now);
    } else {
      break;
    }
  }
}

void OriginRuns::begin(Run& run, Piece& piece, core::TimeUs now) {
  Asked& origin = origins_[run.origin];
  TransferRequest request;
  request.url = origin_file(origin.origin.url, info_, piece.what.file);
  request.access = origin.origin.access;
  request.range = piece.what.range;
  request.size = info_.files[piece.what.file].bytes;
  if (const auto known = origin.validators.find(piece.what.file); known != origin.validators.end())
    request.validator = known->second;
  piece.sink = std::make_shared<PieceSink>(run.bytes, piece.what.at);
  piece.ended_well_before = origin.ended_well;
  piece.began = now;
  ++origin.transfers;
  piece.id = transfers_->begin(std::move(request), piece.sink);
}

// --- answers ---

void OriginRuns::answer(Run& run, core::TimeUs now) {
  while (run.answered < run.handed && run.outcomes[run.answered]) {
    const std::uint32_t g = run.first + run.answered;
    note_outcome(run, g, *run.outcomes[run.answered++], now);
    events_.answer(g, run.outcomes[g - run.first] == DecodeOutcome::kVerified);
  }
  if (!run.failed || run.answered < run.handed) return;
  while (run.answered < run.count) events_.answer(run.first + run.answered++, false);
}

void OriginRuns::note_outcome(Run& run, std::uint32_t generation, DecodeOutcome outcome,
                              core::TimeUs now) {
  Asked& origin = origins_[run.origin];
  if (outcome == DecodeOutcome::kVerified) {
    origin.pace = (now - run.began) / run.answered;
    if (events_.wants(generation)) origin.bytes += info_.shape.bytes_in_generation(generation);
    if (origin.health.worked(run.began)) events_.say(false, "origin " + origin.shown + " goes on");
    return;
  }
  const std::vector<OriginPiece> pieces = origin_pieces(info_, generation, 1);
  std::string files = origin_file(origin.origin.url, info_, pieces.front().file).shown();
  if (pieces.size() > 1) files += fmt::format(" or one of the next {} files", pieces.size() - 1);
  const Error why{ErrorCode::kCorrupt, "fetch " + files,
                  fmt::format("the bytes from {} on differ from the content; put the right files "
                              "on that server",
                              pieces.front().range.first)};
  if (pieces.size() == 1) {
    file_failed(run, pieces.front().file, why, now);
  } else if (!origin.lacks.contains(generation)) {  // nobody knows which of the files it is
    origin.lacks.add(generation);
    warn(origin.health.file_failed(files, why, run.began, now));
    tell_lacking();
  }
  if (!run.failed) fail(run);
}

void OriginRuns::warn(const std::string& text) {
  if (!text.empty()) events_.say(true, text);
}

// --- for people ---

std::vector<OriginFigures> OriginRuns::figures() const {
  std::vector<OriginFigures> figures;
  for (const Asked& origin : origins_)
    figures.push_back({origin.shown, origin.bytes, origin.health.trouble()});
  return figures;
}

std::vector<std::string> OriginRuns::standing() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    const std::string trouble = origins_[i].health.trouble();
    const bool asked = std::ranges::any_of(
        runs_, [i](const auto& run) { return run->origin == i && !run->failed; });
    if (!trouble.empty()) {
      lines.push_back(origins_[i].shown + ": " + trouble);
    } else if (asked) {
      lines.push_back("waiting for " + origins_[i].shown);
    }
  }
  return lines;
}

}  // namespace firn::app
