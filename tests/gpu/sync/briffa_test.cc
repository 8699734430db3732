// The paper's kernels against the CPU's form of the same algorithm, and the grids of its Table II.
#include <doctest/doctest.h>

#include "cuda_kernels/papers/briffa.h"
#include "cuda_kernels/papers/briffa_plan.h"
#include "cuda_kernels/runtime/device.h"
#include "problems.h"

namespace firn::cuda::papers {
namespace {

using codec::sync::FrameSolution;
using codec::sync::Storage;
using sync::Frames;
using sync::FrameShape;

void require(const Status& status) {
  INFO(status.detail);
  REQUIRE(status.ok());
}

const FrameShape kShapes[] = {
    {1, 2, 6, {.1, .1, .05}},     {5, 16, 3, {.05, .05, .02}}, {10, 32, 21, {.01, .01, 0}},
    {9, 100, 5, {.03, .02, .01}}, {12, 5, 9, {0, .05, .02}},   {11, 1500, 2, {.02, .02, .01}},
    {6, 17, 1, {.03, .05, .01}},  {4, 9, 2, {.1, .1, .1}},     {18, 8, 4, {.03, 0, .02}},
};

void check_frames(const FrameShape& shape, Frames::Priors priors, Storage storage) {
  INFO(sync::describe(shape) << (storage == Storage::kGlobal ? " global" : " local"));
  const Frames frames(shape, 3, priors, shape.n * 10 + shape.q);
  codec::sync::DecoderOptions options;
  options.form = codec::sync::Form::kBatch;
  options.precision = codec::sync::Precision::kMixed;
  options.storage = storage;
  codec::sync::MapDecoder cpu(frames.code, shape.channel, frames.limits, options);
  BriffaDecoder decoder;
  require(decoder.open(devices().at(0), frames.code, shape.channel, frames.limits, storage));
  for (const auto& problem : frames.problems) {
    FrameSolution wanted, got;
    cpu.decode(problem, wanted);
    REQUIRE(wanted.status == codec::sync::FrameStatus::kDecoded);
    require(decoder.decode(problem, got));
    got.log_likelihood = wanted.log_likelihood;  // the paper has none
    sync::check_alike(got, wanted, 1e-5);
  }
}

// A frame of the paper's size: N = 210, n = 10, q = 32.
BriffaFrame moderate_frame(bool global) {
  BriffaFrame frame;
  frame.n = 10, frame.q = 32, frame.length = 210;
  frame.states = 91, frame.codeword_low = -7, frame.changes = 16;
  frame.gamma_of_all = global;
  return frame;
}

}  // namespace

TEST_SUITE("device") {
  TEST_CASE("Briffa's kernels decode as the CPU does, gamma kept for the whole frame") {
    for (const FrameShape& shape : kShapes) {
      for (const auto priors : {Frames::Priors::kNone, Frames::Priors::kAll}) {
        check_frames(shape, priors, Storage::kGlobal);
      }
    }
  }

  TEST_CASE("Briffa's kernels decode as the CPU does, gamma kept for four indices") {
    for (const FrameShape& shape : kShapes) {
      for (const auto priors : {Frames::Priors::kNone, Frames::Priors::kAll}) {
        check_frames(shape, priors, Storage::kLocal);
      }
    }
  }
}

TEST_CASE("blocks of gamma take several drifts while every multiprocessor has one") {
  BriffaPlan plan;
  const BriffaBounds bounds{1024, 48 * 1024};
  require(plan_grids(moderate_frame(true), 132, bounds, bounds, bounds, plan));
  CHECK(plan.gamma.threads_x == 32);
  // 19 floats a thread: 48 KiB are enough for 646, in whole warps 640.
  CHECK(plan.gamma.threads_y == 20);
  CHECK(plan.gamma.blocks_x == 210);
  CHECK(plan.gamma.blocks_y == 5);
  CHECK(plan.gamma.shared_bytes == 19u * 4 * 640);

  require(plan_grids(moderate_frame(false), 132, bounds, bounds, bounds, plan));
  CHECK(plan.gamma.blocks_x == 1);
  CHECK(plan.gamma.threads_y == 2);  // 46 blocks of each of four kernels
  CHECK(plan.gamma.blocks_y == 46);
}

TEST_CASE("alpha and beta share the multiprocessors in global storage, not in local storage") {
  BriffaPlan plan;
  const BriffaBounds bounds{1024, 48 * 1024};
  require(plan_grids(moderate_frame(true), 80, bounds, bounds, bounds, plan));
  CHECK(plan.sums.threads_y == 2);  // 46 blocks for 40 multiprocessors
  CHECK(plan.sums.blocks_x == 46);
  require(plan_grids(moderate_frame(false), 80, bounds, bounds, bounds, plan));
  CHECK(plan.sums.threads_y == 1);  // 91 blocks for 80
  CHECK(plan.sums.blocks_x == 91);
}

TEST_CASE("an alphabet beyond a block is looped over by gamma and cut in blocks for L") {
  BriffaFrame frame = moderate_frame(true);
  frame.q = 4096;
  BriffaPlan plan;
  const BriffaBounds bounds{1024, 48 * 1024};
  require(plan_grids(frame, 132, bounds, bounds, bounds, plan));
  CHECK(plan.gamma.threads_x == 640);
  CHECK(plan.gamma.threads_y == 1);
  CHECK(plan.symbols.threads_x == 1024);
  CHECK(plan.symbols.blocks_y == 4);
}

TEST_CASE("states that exceed a block's shared memory are refused") {
  BriffaFrame frame = moderate_frame(true);
  frame.states = 4000;
  BriffaPlan plan;
  const BriffaBounds bounds{1024, 48 * 1024};
  CHECK(plan_grids(frame, 132, bounds, bounds, bounds, plan).code == Code::kUnsupported);
}

}  // namespace firn::cuda::papers
