#include "cuda_kernels/sync/device_decoder.h"

#include <algorithm>
#include <cmath>

#include "codec/sync/frame_ends.h"
#include "cuda_kernels/runtime/cuda_calls.h"

namespace firn::cuda::sync {
namespace {

using codec::sync::FrameProblem;
using codec::sync::FrameSolution;
using codec::sync::FrameStatus;

// Of what goes in or out of a batch; more frames at once than fill a device gain nothing.
constexpr std::size_t kBatchBytesMax = std::size_t{256} << 20;
// Multiprocessors' worth of blocks for the few frames that are decoded again in double.
constexpr int kRedoBlocksPerMultiprocessor = 1;

}  // namespace

Status DeviceDecoder::open(const Device& device, const codec::sync::TvbCode& code,
                           const codec::sync::Channel& channel,
                           const codec::sync::StateLimits& limits,
                           const DeviceDecoderOptions& options, codec::Executor& executor) {
  code_ = code;
  range_ = limits.frame;
  options_ = options;
  executor_ = &executor;
  if (Status s = stream_.open(device); !s.ok()) return s;
  std::vector<std::uint32_t> books;
  for (std::size_t b = 0; b < code.book_count(); ++b) {
    books.insert(books.end(), code.book(b).begin(), code.book(b).end());
  }
  const std::size_t book_bytes = books.size() * sizeof books[0];
  if (Status s = books_.allocate(device, book_bytes); !s.ok()) return s;
  const auto* from = reinterpret_cast<const std::uint8_t*>(books.data());
  if (Status s = stream_.copy_in(books_.data(), from, book_bytes); !s.ok()) return s;
  if (Status s = stream_.wait(); !s.ok()) return s;

  job_ = {};
  job_.n = static_cast<int>(code.codeword_bits());
  job_.q = static_cast<int>(code.alphabet());
  job_.length = static_cast<int>(code.length());
  job_.drift_low = range_.low;
  job_.states = range_.size();
  job_.books = static_cast<int>(code.book_count());
  job_.insertion_half = channel.insertion / 2;
  job_.deletion = channel.deletion;
  job_.match = channel.match();
  job_.mismatch = channel.mismatch();
  job_.match_power = std::pow(job_.match, job_.n);
  job_.in.codebooks = reinterpret_cast<const std::uint32_t*>(books_.data());
  job_.in.received_pitch = code.frame_bits() + static_cast<std::size_t>(range_.size()) + 1;

  const BatchLayout one = layout(1, true);
  std::size_t frames = std::clamp(kBatchBytesMax / std::max(one.in_bytes, one.out_bytes),
                                  std::size_t{1}, std::max<std::size_t>(1, options.frames_max));
  Status taken = take_memory(frames);
  while (taken.code == Code::kOutOfMemory && frames > 1) taken = take_memory(frames /= 2);
  return taken;
}

BatchLayout DeviceDecoder::layout(std::size_t frames, bool with_priors) const {
  return {{code_->length(), code_->alphabet(), static_cast<std::size_t>(range_.size()),
           job_.in.received_pitch, in_double() ? sizeof(double) : sizeof(float)},
          frames,
          with_priors};
}

// Priors are rare and large: memory for them is taken when they come.
Status DeviceDecoder::take_memory(std::size_t frames) {
  const Device& device = stream_.device();
  const BatchLayout at = layout(frames, false);
  if (Status s = input_.allocate(device, at.in_bytes); !s.ok()) return s;
  if (Status s = pinned_input_.allocate(device, at.in_bytes); !s.ok()) return s;
  if (Status s = output_.allocate(device, at.out_bytes); !s.ok()) return s;
  if (Status s = pinned_output_.allocate(device, at.out_bytes); !s.ok()) return s;
  if (Status s = redo_.allocate(device, (frames + 1) * sizeof(int)); !s.ok()) return s;
  frames_max_ = frames;
  redo_job_ = job_;
  const Kernel kernel = in_double() ? Kernel::kDouble : Kernel::kFloat;
  if (Status s = size_kernel(job_, kernel, frames, workspace_); !s.ok() || in_double()) return s;
  const auto few = static_cast<std::size_t>(device.multiprocessors * kRedoBlocksPerMultiprocessor);
  return size_kernel(redo_job_, Kernel::kDouble, std::min(frames, few), redo_workspace_);
}

// As many blocks as run at once, or as there is work for, or as there is memory for.
Status DeviceDecoder::size_kernel(Job& job, Kernel kernel, std::size_t frames,
                                  DeviceMemory& workspace) {
  const Device& device = stream_.device();
  const auto bits_max = static_cast<int>(job.in.received_pitch);
  job.division = divide(job.q, job.length, job.states, bits_max, real_bytes(kernel),
                        column_bytes(kernel, job));
  if (Status s = calls::select(device.index); !s.ok()) return s;
  int resident = 0;
  if (Status s = launch_superposed(job, kernel, false, nullptr, &resident); !s.ok()) return s;
  if (resident == 0) return unsupported("a frame does not fit a multiprocessor");
  const std::size_t each = static_cast<std::size_t>(job.division.frames_per_block());
  std::size_t blocks =
      std::min((frames + each - 1) / each, static_cast<std::size_t>(resident) *
                                               static_cast<std::size_t>(device.multiprocessors));
  Status taken = workspace.allocate(device, blocks * job.division.slot_bytes);
  while (taken.code == Code::kOutOfMemory && blocks > 1) {
    taken = workspace.allocate(device, (blocks /= 2) * job.division.slot_bytes);
  }
  job.blocks = static_cast<int>(blocks);
  job.workspace = workspace.data();
  return taken;
}

// The bits that the frame's states reach, and all else that is known of the frame.
Status DeviceDecoder::fill(const FrameProblem& problem, std::size_t frame, const BatchLayout& at) {
  std::uint8_t* const to = pinned_input_.data();
  const auto states = static_cast<std::size_t>(range_.size());
  codec::sync::FrameEnds ends;
  outside_[frame] = ends.set(problem, *code_, range_) ? 0 : 1;
  const auto size = static_cast<std::ptrdiff_t>(problem.received.size());
  const auto frame_bits = static_cast<std::ptrdiff_t>(code_->frame_bits());
  const auto clip = [&](std::ptrdiff_t bit) { return std::clamp(bit, std::ptrdiff_t{0}, size); };
  const std::ptrdiff_t first = clip(problem.origin + range_.low);
  const std::ptrdiff_t last =
      outside_[frame] ? first : clip(problem.origin + frame_bits + range_.high);
  const auto bits = problem.received.subspan(static_cast<std::size_t>(first),
                                             static_cast<std::size_t>(last - first));
  std::copy(bits.begin(), bits.end(), to + at.received + frame * job_.in.received_pitch);
  reinterpret_cast<int*>(to + at.received_bits)[frame] = static_cast<int>(bits.size());
  reinterpret_cast<int*>(to + at.origins)[frame] =
      outside_[frame] ? 0 : static_cast<int>(problem.origin - first);
  reinterpret_cast<int*>(to + at.end_boundaries)[frame] =
      static_cast<int>(std::min(problem.end_boundary, code_->length()));
  auto* start = reinterpret_cast<double*>(to + at.start) + frame * states;
  auto* end = reinterpret_cast<double*>(to + at.end) + frame * states;
  ends.start.resize(states), ends.end.resize(states);
  std::copy(ends.start.begin(), ends.start.end(), start);
  std::copy(ends.end.begin(), ends.end.end(), end);
  if (!with_priors_) return {};
  const std::size_t symbols = code_->length() * code_->alphabet();
  auto* priors = reinterpret_cast<double*>(to + at.priors) + frame * symbols;
  if (problem.symbol_priors.empty()) {
    std::fill_n(priors, symbols, 1 / static_cast<double>(code_->alphabet()));
    return {};
  }
  if (problem.symbol_priors.size() != symbols) return unsupported("priors of another shape");
  std::copy(problem.symbol_priors.begin(), problem.symbol_priors.end(), priors);
  return {};
}

Status DeviceDecoder::upload(std::span<const FrameProblem> problems) {
  if (problems.empty() || problems.size() > frames_max_) return unsupported("no batch");
  frames_ = problems.size();
  with_priors_ = std::any_of(problems.begin(), problems.end(), [](const FrameProblem& problem) {
    return !problem.symbol_priors.empty();
  });
  const BatchLayout at = layout(frames_, with_priors_);
  if (at.in_bytes > input_.size()) {
    if (Status s = stream_.wait(); !s.ok()) return s;
    const std::size_t most = layout(frames_max_, true).in_bytes;
    if (Status s = input_.allocate(stream_.device(), most); !s.ok()) return s;
    if (Status s = pinned_input_.allocate(stream_.device(), most); !s.ok()) return s;
  }
  outside_.assign(frames_, 0);
  const std::size_t parts = std::min(frames_, executor_->threads());
  std::vector<Status> failures(parts);
  executor_->run(parts, [&](std::size_t part) {
    for (std::size_t f = part; f < frames_; f += parts) {
      if (Status s = fill(problems[f], f, at); !s.ok()) failures[part] = s;
    }
  });
  for (const Status& s : failures) {
    if (!s.ok()) return s;
  }
  point(job_, at);
  point(redo_job_, at);
  return stream_.copy_in(input_.data(), pinned_input_.data(), at.in_bytes);
}

void DeviceDecoder::point(Job& job, const BatchLayout& at) const {
  std::uint8_t *const in = input_.data(), *const out = output_.data();
  job.in.received = in + at.received;
  job.in.received_bits = reinterpret_cast<const int*>(in + at.received_bits);
  job.in.origins = reinterpret_cast<const int*>(in + at.origins);
  job.in.end_boundaries = reinterpret_cast<const int*>(in + at.end_boundaries);
  job.in.start = reinterpret_cast<const double*>(in + at.start);
  job.in.end = reinterpret_cast<const double*>(in + at.end);
  job.in.priors = with_priors_ ? reinterpret_cast<const double*>(in + at.priors) : nullptr;
  job.out.posteriors = in_double() ? nullptr : reinterpret_cast<float*>(out + at.posteriors);
  job.out.exact_posteriors = in_double() ? reinterpret_cast<double*>(out + at.posteriors) : nullptr;
  job.out.boundaries = reinterpret_cast<double*>(out + at.boundaries);
  job.out.log_likelihoods = reinterpret_cast<double*>(out + at.log_likelihoods);
  job.out.lost = out + at.lost;
  job.out.redo_count = reinterpret_cast<int*>(redo_.data());
  job.out.redo = job.out.redo_count + 1;
  job.frames = static_cast<int>(frames_);
}

Status DeviceDecoder::launch() {
  if (Status s = calls::select(stream_.device().index); !s.ok()) return s;
  if (Status s = stream_.fill(redo_.data(), 0, sizeof(int)); !s.ok()) return s;
  if (in_double()) return launch_superposed(job_, Kernel::kDouble, false, stream_.handle());
  if (Status s = launch_superposed(job_, Kernel::kFloat, false, stream_.handle()); !s.ok()) {
    return s;
  }
  return launch_superposed(redo_job_, Kernel::kDouble, true, stream_.handle());
}

Status DeviceDecoder::download(std::span<FrameSolution> solutions) {
  const BatchLayout at = layout(frames_, with_priors_);
  const Status copied = stream_.copy_out(pinned_output_.data(), output_.data(), at.out_bytes);
  if (!copied.ok()) return copied;
  std::vector<int> redone(frames_ + 1);
  if (Status s = stream_.copy_out(reinterpret_cast<std::uint8_t*>(redone.data()), redo_.data(),
                                  redone.size() * sizeof(int));
      !s.ok()) {
    return s;
  }
  if (Status s = stream_.wait(); !s.ok()) return s;
  const std::size_t parts = std::min(frames_, executor_->threads());
  executor_->run(parts, [&](std::size_t part) {
    for (std::size_t f = part; f < frames_; f += parts) read(f, at, solutions[f]);
  });
  for (int i = 0; i < redone[0]; ++i) {
    FrameSolution& solution = solutions[static_cast<std::size_t>(redone[1 + i])];
    solution.redone = solution.status != FrameStatus::kDriftOutside;
  }
  return {};
}

void DeviceDecoder::read(std::size_t frame, const BatchLayout& at, FrameSolution& solution) const {
  const std::uint8_t* const from = pinned_output_.data();
  solution.redone = false;
  solution.status = outside_[frame]                ? FrameStatus::kDriftOutside
                    : (from + at.lost)[frame] != 0 ? FrameStatus::kMassLost
                                                   : FrameStatus::kDecoded;
  if (solution.status != FrameStatus::kDecoded) return;
  const std::size_t symbols = code_->length() * code_->alphabet();
  solution.posteriors.resize(symbols);
  const auto copy = [&](const auto* posteriors) {
    std::copy_n(posteriors + frame * symbols, symbols, solution.posteriors.begin());
  };
  if (in_double()) {
    copy(reinterpret_cast<const double*>(from + at.posteriors));
  } else {
    copy(reinterpret_cast<const float*>(from + at.posteriors));
  }
  const auto states = static_cast<std::size_t>(range_.size());
  const auto* boundary = reinterpret_cast<const double*>(from + at.boundaries) + frame * 2 * states;
  for (auto* posterior : {&solution.start_posterior, &solution.end_posterior}) {
    double sum = 0;
    for (std::size_t s = 0; s < states; ++s) sum += boundary[s];
    posterior->resize(states);
    for (std::size_t s = 0; s < states; ++s) (*posterior)[s] = boundary[s] / sum;
    boundary += states;
  }
  solution.log_likelihood = reinterpret_cast<const double*>(from + at.log_likelihoods)[frame];
}

Status DeviceDecoder::decode(std::span<const FrameProblem> problems,
                             std::span<FrameSolution> solutions) {
  for (std::size_t first = 0; first < problems.size(); first += frames_max_) {
    const std::size_t count = std::min(frames_max_, problems.size() - first);
    if (Status s = upload(problems.subspan(first, count)); !s.ok()) return s;
    if (Status s = launch(); !s.ok()) return s;
    if (Status s = download(solutions.subspan(first, count)); !s.ok()) return s;
  }
  return {};
}

}  // namespace firn::cuda::sync
