// The production kernel against the CPU's decoders in double: in float against the batch form,
// whose corridor is all that they differ in; in double against the superposed form.
#include <doctest/doctest.h>

#include <algorithm>

#include "codec/thread_pool.h"
#include "cuda_kernels/runtime/device.h"
#include "cuda_kernels/sync/batch_decoder.h"
#include "cuda_kernels/sync/device_decoder.h"
#include "problems.h"

namespace firn::cuda::sync {
namespace {

using channel::FrameSolution;
using channel::FrameStatus;
using channel::Precision;

void require(const Status& status) {
  INFO(status.detail);
  REQUIRE(status.ok());
}

// Alphabets that pack a warp, fill it, need several warps, and several rounds; codewords in
// registers and in shared memory; frames of one codeword.
const FrameShape kShapes[] = {
    {1, 2, 6, {.1, .1, .05}},      {2, 3, 1, {.05, .1, .02}},    {5, 16, 2, {.05, .05, .02}},
    {6, 17, 7, {.03, .05, .01}},   {8, 16, 33, {.01, .01, 0}},   {10, 32, 21, {.01, .01, 0}},
    {10, 33, 5, {.02, .01, .01}},  {9, 100, 4, {.03, .02, .01}}, {16, 256, 3, {.05, .05, 0}},
    {17, 20, 3, {.02, .02, .01}},  {12, 5, 9, {0, .05, .02}},    {7, 64, 9, {.05, 0, .02}},
    {11, 300, 2, {.02, .02, .01}}, {24, 4, 5, {.03, .03, 0}},    {4, 9, 1, {.1, .1, .1}},
};

std::vector<FrameSolution> on_cpu(const Frames& frames, const channel::Channel& medium,
                                  channel::Form form) {
  channel::DecoderOptions options;
  options.precision = Precision::kDouble;
  options.form = form;
  channel::MapDecoder decoder(frames.code, medium, frames.limits, options);
  std::vector<FrameSolution> solutions(frames.problems.size());
  for (std::size_t f = 0; f < solutions.size(); ++f) {
    decoder.decode(frames.problems[f], solutions[f]);
  }
  return solutions;
}

void check_against_cpu(const FrameShape& shape, Frames::Priors priors, Precision precision,
                       double tolerance) {
  INFO(describe(shape));
  const Frames frames(shape, 19, priors, shape.n * 100 + shape.q);
  const auto form =
      precision == Precision::kDouble ? channel::Form::kSuperposed : channel::Form::kBatch;
  const std::vector<FrameSolution> wanted = on_cpu(frames, shape.channel, form);
  codec::SerialExecutor executor;
  DeviceDecoder decoder;
  DeviceDecoderOptions options;
  options.precision = precision;
  options.frames_max = 12;  // two batches, the second with a warp that is not full
  require(
      decoder.open(devices().at(0), frames.code, shape.channel, frames.limits, options, executor));
  std::vector<FrameSolution> got(wanted.size());
  require(decoder.decode(frames.problems, got));
  for (std::size_t f = 0; f < got.size(); ++f) {
    INFO("frame " << f);
    check_alike(got[f], wanted[f], tolerance);
  }
}

}  // namespace

TEST_SUITE("device") {
  TEST_CASE("frames are decoded as by the CPU, in float") {
    for (const FrameShape& shape : kShapes) {
      for (const auto priors :
           {Frames::Priors::kNone, Frames::Priors::kSymbols, Frames::Priors::kAll}) {
        check_against_cpu(shape, priors, Precision::kSingle, 1e-5);
      }
    }
  }

  TEST_CASE("frames are decoded as by the CPU, in double") {
    for (const FrameShape& shape : kShapes) {
      for (const auto priors : {Frames::Priors::kNone, Frames::Priors::kAll}) {
        check_against_cpu(shape, priors, Precision::kDouble, 1e-9);
      }
    }
  }

  TEST_CASE("frames that lose their mass in float are decoded again in double") {
    // All of them start at a drift of 5, it is said, but end at 0, and the channel that is believed
    // in hardly ever deletes a bit: what is left of any path is far below what float holds.
    const FrameShape believed{10, 32, 20, {1e-14, 1e-14, .4}};
    Frames frames({10, 32, 20, {0, 0, .1}}, 9, Frames::Priors::kNone, 5);
    frames.limits = {{-6, 6}, {-12, 12}};
    std::vector<double> start(25, 0.0);
    start[12 + 5] = 1;
    for (auto& problem : frames.problems) problem.start_prior = start;
    const std::vector<FrameSolution> wanted =
        on_cpu(frames, believed.channel, channel::Form::kSuperposed);
    codec::SerialExecutor executor;
    DeviceDecoder decoder;
    require(
        decoder.open(devices().at(0), frames.code, believed.channel, frames.limits, {}, executor));
    std::vector<FrameSolution> got(wanted.size());
    require(decoder.decode(frames.problems, got));
    for (std::size_t f = 0; f < got.size(); ++f) {
      INFO("frame " << f);
      CHECK(got[f].status == FrameStatus::kDecoded);
      CHECK(got[f].redone);
      check_alike(got[f], wanted[f], 1e-5);
    }
  }

  TEST_CASE("a record that no state fits is an erasure among frames that are decoded") {
    const FrameShape shape{8, 16, 12, {.01, .01, 0}};
    Frames frames(shape, 5, Frames::Priors::kNone, 3);
    const channel::Bits nothing, noise(3000, 1);
    frames.problems[1].received = nothing;
    frames.problems[3].received = noise;
    codec::SerialExecutor executor;
    DeviceDecoder decoder;
    require(decoder.open(devices().at(0), frames.code, shape.channel, frames.limits, {}, executor));
    std::vector<FrameSolution> got(5);
    require(decoder.decode(frames.problems, got));
    for (std::size_t f = 0; f < 5; ++f) {
      CHECK(got[f].status == (f % 2 == 1 ? FrameStatus::kDriftOutside : FrameStatus::kDecoded));
    }
  }

  TEST_CASE("a batch of thousands is the same frame by frame") {
    const FrameShape shape{8, 16, 40, {.01, .01, .001}};
    const Frames frames(shape, 3001, Frames::Priors::kNone, 11);
    codec::ThreadPool executor(4);
    DeviceDecoder decoder;
    require(decoder.open(devices().at(0), frames.code, shape.channel, frames.limits, {}, executor));
    std::vector<FrameSolution> got(frames.problems.size()), again(1);
    require(decoder.decode(frames.problems, got));
    for (std::size_t f = 0; f < got.size(); f += 97) {
      require(decoder.decode(std::span(frames.problems).subspan(f, 1), again));
      CHECK(again[0].posteriors == got[f].posteriors);
    }
  }
}

TEST_CASE("without a device the CPU decodes, and says why") {
  const FrameShape shape{6, 8, 10, {.02, .02, .01}};
  const Frames frames(shape, 7, Frames::Priors::kSymbols, 9);
  codec::ThreadPool executor(2);
  BatchDecoder decoder(frames.code, shape.channel, frames.limits, {}, {}, executor);
  CHECK_FALSE(decoder.on_device());
  CHECK_FALSE(decoder.reason().empty());
  const std::vector<FrameSolution> wanted =
      on_cpu(frames, shape.channel, channel::Form::kSuperposed);
  std::vector<FrameSolution> got(wanted.size());
  decoder.decode(frames.problems, got);
  for (std::size_t f = 0; f < got.size(); ++f) check_alike(got[f], wanted[f], 1e-5);
}

TEST_CASE("a device that cannot be opened is dropped, and the CPU decodes") {
  const FrameShape shape{6, 8, 10, {.02, .02, .01}};
  const Frames frames(shape, 3, Frames::Priors::kNone, 10);
  codec::SerialExecutor executor;
  Device missing;
  missing.index = 1000;
  BatchDecoder decoder(frames.code, shape.channel, frames.limits, {}, {missing}, executor);
  CHECK_FALSE(decoder.on_device());
  CHECK_FALSE(decoder.reason().empty());
  std::vector<FrameSolution> got(3);
  decoder.decode(frames.problems, got);
  for (const FrameSolution& solution : got) CHECK(solution.status == FrameStatus::kDecoded);
}

}  // namespace firn::cuda::sync
