// MAP decoders for several threads: each takes one that is free, or a copy.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "codec/sync/map_decoder.h"

namespace firn::medium {

// Any thread, at once.
class DecoderPool {
 public:
  explicit DecoderPool(codec::sync::MapDecoder first) : first_(std::move(first)) {}

  const codec::sync::StateLimits& limits() const { return first_.limits(); }

  void decode(const codec::sync::FrameProblem& problem,
              codec::sync::FrameSolution& solution) const {
    std::unique_ptr<codec::sync::MapDecoder> decoder = take();
    decoder->decode(problem, solution);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(decoder));
  }

 private:
  std::unique_ptr<codec::sync::MapDecoder> take() const {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<codec::sync::MapDecoder>(first_);
    auto decoder = std::move(free_.back());
    free_.pop_back();
    return decoder;
  }

  const codec::sync::MapDecoder first_;  // never decodes: it is what others are copies of
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<codec::sync::MapDecoder>> free_;
};

}  // namespace firn::medium
