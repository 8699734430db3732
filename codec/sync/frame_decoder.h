// What each form of the MAP decoder is behind codec/sync/map_decoder.h.
#pragma once

#include <memory>

#include "codec/sync/channel.h"
#include "codec/sync/frame.h"
#include "codec/sync/limits.h"
#include "codec/sync/tvb_code.h"

namespace firn::codec::sync {

// Code, channel and limits: what all frames of a decoder have in common.
struct FrameModel {
  TvbCode code;
  Channel channel;
  StateLimits limits;

  int states() const { return limits.frame.size(); }  // M_tau
};

// One thread at a time.
class FrameDecoder {
 public:
  explicit FrameDecoder(std::shared_ptr<const FrameModel> model) : model_(std::move(model)) {}
  virtual ~FrameDecoder() = default;

  virtual std::unique_ptr<FrameDecoder> copy() const = 0;
  // Gives status and all else but `redone`.
  virtual void decode(const FrameProblem& problem, FrameSolution& solution) = 0;

  const std::shared_ptr<const FrameModel>& model() const { return model_; }

 protected:
  FrameDecoder(const FrameDecoder&) = default;

 private:
  std::shared_ptr<const FrameModel> model_;
};

}  // namespace firn::codec::sync
