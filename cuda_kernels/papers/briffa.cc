#include "cuda_kernels/papers/briffa.h"

#include <algorithm>
#include <cmath>

#include "codec/sync/frame_ends.h"
#include "cuda_kernels/papers/briffa_plan.h"
#include "cuda_kernels/runtime/cuda_calls.h"

namespace firn::cuda::papers {
namespace {

using codec::sync::FrameProblem;
using codec::sync::FrameSolution;
using codec::sync::FrameStatus;
using codec::sync::Storage;

template <typename T>
Status copy_in(Stream& stream, std::uint8_t* to, std::span<const T> from) {
  return stream.copy_in(to, reinterpret_cast<const std::uint8_t*>(from.data()), from.size_bytes());
}

bool scale_to_one(std::span<double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  if (!(sum > 0) || !std::isfinite(sum)) return false;
  for (double& value : values) value /= sum;
  return true;
}

}  // namespace

Status BriffaDecoder::open(const Device& device, const codec::sync::TvbCode& code,
                           const codec::sync::Channel& channel,
                           const codec::sync::StateLimits& limits, Storage storage) {
  code_ = code;
  range_ = limits.frame;
  for (int s = 0; s < kStreams; ++s) {
    if (Status opened = streams_[s].open(device); !opened.ok()) return opened;
    if (Status opened = events_[s].open(device); !opened.ok()) return opened;
  }
  frame_ = {};
  frame_.n = static_cast<int>(code.codeword_bits());
  frame_.q = static_cast<int>(code.alphabet());
  frame_.length = static_cast<int>(code.length());
  frame_.frame_low = range_.low;
  frame_.states = range_.size();
  frame_.codeword_low = std::max(limits.codeword.low, -frame_.n);
  frame_.changes = limits.codeword.high - frame_.codeword_low + 1;
  frame_.insertion_half = static_cast<float>(channel.insertion / 2);
  frame_.deletion = static_cast<float>(channel.deletion);
  frame_.match = static_cast<float>(channel.match());
  frame_.mismatch = static_cast<float>(channel.mismatch());
  frame_.gamma_of_all = storage == Storage::kGlobal;
  if (Status s = make_plan(); !s.ok()) return s;
  return place_arrays(code);
}

Status BriffaDecoder::make_plan() {
  if (Status s = calls::select(stream().device().index); !s.ok()) return s;
  BriffaBounds gamma, sums, symbols;
  if (Status s = gamma_bounds(gamma); !s.ok()) return s;
  if (Status s = sums_bounds(sums); !s.ok()) return s;
  if (Status s = symbols_bounds(symbols); !s.ok()) return s;
  return plan_grids(frame_, stream().device().multiprocessors, gamma, sums, symbols, plan_);
}

Status BriffaDecoder::place_arrays(const codec::sync::TvbCode& code) {
  const std::vector<std::uint32_t> words = code.flat_table();
  const std::size_t symbols = words.size(), states = static_cast<std::size_t>(frame_.states);
  const std::size_t rows = (code.length() + 1) * static_cast<std::size_t>(frame_.row_pitch());
  std::size_t bytes = 0;
  const auto place = [&](std::size_t wanted) {
    const std::size_t at = bytes;
    bytes += (wanted + 255) / 256 * 256;
    return at;
  };
  const std::size_t books = place(symbols * sizeof words[0]);
  const std::size_t received = place(code.frame_bits() + states), priors = place(symbols * 8);
  const std::size_t start = place(states * 8), end = place(states * 8);
  const std::size_t alpha = place(rows * 8), beta = place(rows * 8);
  const std::size_t posteriors = place(symbols * 8), drifts = place(2 * states * 8);
  if (Status s = memory_.allocate(stream().device(), bytes); !s.ok()) return s;
  const std::size_t kept = frame_.gamma_of_all ? code.length() : kStreams;
  const Status taken =
      gamma_.allocate(stream().device(), kept * frame_.gamma_each() * sizeof(float));
  if (!taken.ok()) return taken;
  std::uint8_t* const all = memory_.data();
  received_ = all + received, priors_ = all + priors, start_ = all + start, end_ = all + end;
  frame_.codebooks = reinterpret_cast<const std::uint32_t*>(all + books);
  frame_.received = received_;
  frame_.start = reinterpret_cast<const double*>(start_);
  frame_.end = reinterpret_cast<const double*>(end_);
  frame_.alpha = reinterpret_cast<double*>(all + alpha);
  frame_.beta = reinterpret_cast<double*>(all + beta);
  frame_.symbols = reinterpret_cast<double*>(all + posteriors);
  frame_.drifts = reinterpret_cast<double*>(all + drifts);
  if (Status s = copy_in(stream(), all + books, std::span(words)); !s.ok()) return s;
  return stream().wait();
}

// Bits that no state reaches stay behind. A frame that fits no state is kUnsupported.
Status BriffaDecoder::upload(const FrameProblem& problem) {
  codec::sync::FrameEnds ends;
  if (!ends.set(problem, *code_, range_)) return unsupported("the frame fits no state");
  const auto size = static_cast<std::ptrdiff_t>(problem.received.size());
  const auto clip = [&](std::ptrdiff_t bit) { return std::clamp(bit, std::ptrdiff_t{0}, size); };
  const std::ptrdiff_t first = clip(problem.origin + range_.low);
  const std::ptrdiff_t last =
      clip(problem.origin + static_cast<std::ptrdiff_t>(code_->frame_bits()) + range_.high);
  frame_.received_bits = static_cast<int>(last - first);
  frame_.origin = static_cast<int>(problem.origin - first);
  frame_.priors =
      problem.symbol_priors.empty() ? nullptr : reinterpret_cast<const double*>(priors_);
  end_boundary_ = static_cast<int>(std::min(problem.end_boundary, code_->length()));
  const auto bits = problem.received.subspan(static_cast<std::size_t>(first),
                                             static_cast<std::size_t>(last - first));
  if (Status s = copy_in(stream(), received_, bits); !s.ok()) return s;
  if (Status s = copy_in(stream(), priors_, problem.symbol_priors); !s.ok()) return s;
  if (Status s = copy_in(stream(), start_, std::span<const double>(ends.start)); !s.ok()) return s;
  if (Status s = copy_in(stream(), end_, std::span<const double>(ends.end)); !s.ok()) return s;
  return stream().wait();
}

Status BriffaDecoder::launch() {
  if (Status s = calls::select(stream().device().index); !s.ok()) return s;
  if (Status s = frame_.gamma_of_all ? launch_global() : launch_local(); !s.ok()) return s;
  if (Status s = launch_drifts(frame_, 0, 0, stream().handle()); !s.ok()) return s;
  return launch_drifts(frame_, end_boundary_, 1, stream().handle());
}

// What one stream does from now on comes after what the other has so far.
Status BriffaDecoder::follow(int stream, int before) {
  if (Status s = streams_[before].mark(events_[before]); !s.ok()) return s;
  return streams_[stream].wait_for(events_[before]);
}

// IV-A: gamma of all indices, then alpha on one stream and beta on another, in turn.
Status BriffaDecoder::launch_global() {
  const int N = frame_.length;
  void *const forwards = streams_[0].handle(), *const backwards = streams_[1].handle();
  if (Status s = launch_gamma(frame_, plan_.gamma, 0, gamma(0), forwards); !s.ok()) return s;
  if (Status s = follow(1, 0); !s.ok()) return s;
  if (Status s = launch_init(frame_, false, forwards); !s.ok()) return s;
  if (Status s = launch_init(frame_, true, backwards); !s.ok()) return s;
  if (Status s = launch_normalise(frame_, row(false, 0), forwards); !s.ok()) return s;
  if (Status s = launch_normalise(frame_, row(true, N), backwards); !s.ok()) return s;
  for (int t = 1; t <= N; ++t) {
    const float *const before = gamma(static_cast<std::size_t>(t - 1)),
                       *const after = gamma(static_cast<std::size_t>(N - t));
    if (Status s = launch_alpha(frame_, plan_.sums, t, before, forwards); !s.ok()) return s;
    if (Status s = launch_beta(frame_, plan_.sums, N - t, after, backwards); !s.ok()) return s;
    if (Status s = launch_normalise(frame_, row(false, t), forwards); !s.ok()) return s;
    if (Status s = launch_normalise(frame_, row(true, N - t), backwards); !s.ok()) return s;
  }
  if (Status s = follow(0, 1); !s.ok()) return s;
  return launch_symbols(frame_, plan_.symbols, 0, gamma(0), forwards);
}

// IV-B: alpha with gamma of each index, then beta and L with gamma of each index once more.
Status BriffaDecoder::launch_local() {
  if (Status s = launch_local_pass(false); !s.ok()) return s;
  return launch_local_pass(true);
}

// Four streams take turns, each with memory for one gamma_i: first all four compute theirs, then
// one after the other what depends on the row before.
Status BriffaDecoder::launch_local_pass(bool backwards) {
  const int N = frame_.length;
  if (Status s = launch_init(frame_, backwards, streams_[0].handle()); !s.ok()) return s;
  const Status normalised =
      launch_normalise(frame_, row(backwards, backwards ? N : 0), streams_[0].handle());
  if (!normalised.ok()) return normalised;
  for (int s = 1; s < kStreams; ++s) {
    if (Status followed = follow(s, 0); !followed.ok()) return followed;
  }
  for (int first = 0; first < N; first += kStreams) {
    const int last = std::min(N, first + kStreams);
    const auto index = [&](int t) { return backwards ? N - 1 - t : t; };
    for (int t = first; t < last; ++t) {
      const int s = t % kStreams;
      const Status made = launch_gamma(frame_, plan_.gamma, index(t),
                                       gamma(static_cast<std::size_t>(s)), streams_[s].handle());
      if (!made.ok()) return made;
    }
    for (int t = first; t < last; ++t) {
      const int s = t % kStreams, i = index(t);
      void* const stream = streams_[s].handle();
      const float* const metrics = gamma(static_cast<std::size_t>(s));
      const Event& row_before = events_[t == 0 ? 0 : (t - 1) % kStreams];
      if (Status done = streams_[s].wait_for(row_before); !done.ok()) return done;
      const Status summed = backwards ? launch_beta(frame_, plan_.sums, i, metrics, stream)
                                      : launch_alpha(frame_, plan_.sums, i + 1, metrics, stream);
      if (!summed.ok()) return summed;
      const Status scaled = launch_normalise(frame_, row(backwards, backwards ? i : i + 1), stream);
      if (!scaled.ok()) return scaled;
      // The next row needs what has been done so far; L is no part of it.
      if (Status done = streams_[s].mark(events_[s]); !done.ok()) return done;
      if (!backwards) continue;
      const Status found = launch_symbols(frame_, plan_.symbols, i, metrics, stream);
      if (!found.ok()) return found;
    }
  }
  for (int s = 1; s < kStreams; ++s) {
    if (Status followed = follow(0, s); !followed.ok()) return followed;
  }
  return {};
}

Status BriffaDecoder::download(FrameSolution& solution) {
  const std::size_t q = code_->alphabet(), states = static_cast<std::size_t>(frame_.states);
  solution = {};
  solution.posteriors.resize(code_->length() * q);
  solution.start_posterior.resize(states), solution.end_posterior.resize(states);
  const auto copy_out = [&](std::vector<double>& to, const double* from) {
    return stream().copy_out(reinterpret_cast<std::uint8_t*>(to.data()),
                             reinterpret_cast<const std::uint8_t*>(from), to.size() * 8);
  };
  if (Status s = copy_out(solution.posteriors, frame_.symbols); !s.ok()) return s;
  if (Status s = copy_out(solution.start_posterior, frame_.drifts); !s.ok()) return s;
  if (Status s = copy_out(solution.end_posterior, frame_.drifts + states); !s.ok()) return s;
  if (Status s = stream().wait(); !s.ok()) return s;
  solution.status = FrameStatus::kDecoded;
  for (std::size_t i = 0; i < code_->length(); ++i) {
    if (!scale_to_one(std::span(solution.posteriors).subspan(i * q, q))) {
      solution.status = FrameStatus::kMassLost;
    }
  }
  return {};
}

Status BriffaDecoder::decode(const FrameProblem& problem, FrameSolution& solution) {
  if (Status s = upload(problem); !s.ok()) return s;
  if (Status s = launch(); !s.ok()) return s;
  return download(solution);
}

}  // namespace firn::cuda::papers
