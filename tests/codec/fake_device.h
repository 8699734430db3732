// The CPU pretending to be a device: fails as told, and pretends how long it takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "codec/backend.h"
#include "codec/check_sums.h"
#include "codec/shared_backend.h"

namespace firn::tests {

inline thread_local double pretended_seconds = 0;

// Time is what the backends say they took.
inline codec::SharedBackend::Timer pretended_time() {
  return [](const std::function<void()>& work) {
    pretended_seconds = 0;
    work();
    return pretended_seconds;
  };
}

// The CPU, pretending to be a device that takes a fixed time and one for each generation or row,
// and that fails as told. A batch that fails has spoilt its outputs.
class FakeDevice final : public codec::Backend {
 public:
  using Code = codec::BackendStatus::Code;

  FakeDevice(codec::Executor& executor, double fixed_seconds, double item_seconds)
      : cpu_(executor, codec::kernels()), fixed_(fixed_seconds), item_(item_seconds) {}

  std::deque<Code> outcomes;                  // of the next calls; kOk once it is empty
  std::size_t generations_max = SIZE_MAX;     // more at once: kOutOfMemory
  std::vector<std::size_t> decoded, encoded;  // counts of the calls that went well
  std::size_t summed = 0;                     // generations
  std::vector<std::uint64_t> forgotten;
  bool lying = false;            // of what it decodes one byte is false
  std::function<void()> before;  // called first in every call
  bool keeping = false;          // source blocks, from now on
  std::map<std::uint64_t, std::vector<std::uint8_t>> kept;
  std::size_t kept_bytes = std::size_t{1} << 30;  // that it says it keeps at most

  std::string called = "fake";
  int prepared = 0;  // how often

  std::string name() const override { return called; }
  void prepare(std::size_t, std::size_t) override { ++prepared; }
  codec::BackendStatus encode(const codec::EncodeWork& work) override {
    if (before) before();
    pretended_seconds += fixed_ + item_ * static_cast<double>(work.out.size());
    if (const Code code = next(); code != Code::kOk) {
      for (std::uint8_t* out : work.out) std::fill_n(out, work.block_bytes, 0xee);
      return {code, "told to"};
    }
    encoded.push_back(work.out.size());
    codec::EncodeWork whole = work;
    if (work.source.empty()) {
      whole.source = kept.at(work.generation_key);
    } else if (keeping) {
      kept[work.generation_key].assign(work.source.begin(), work.source.end());
    }
    return cpu_.encode(whole);
  }
  codec::BackendStatus decode(std::span<codec::GenerationWork> generations) override {
    if (before) before();
    pretended_seconds += fixed_ + item_ * static_cast<double>(generations.size());
    const Code code = generations.size() > generations_max ? Code::kOutOfMemory : next();
    if (code != Code::kOk) {
      for (codec::GenerationWork& work : generations)
        std::fill(work.out.begin(), work.out.end(), 0xee);
      return {code, "told to"};
    }
    decoded.push_back(generations.size());
    const codec::BackendStatus status = cpu_.decode(generations);
    if (lying)
      for (codec::GenerationWork& work : generations) work.out.front() ^= 1;
    return status;
  }
  codec::BackendStatus make_sums(std::span<codec::SumsWork> works) override {
    if (const Code code = next(); code != Code::kOk) return {code, "told to"};
    for (codec::SumsWork& work : works) {
      if (work.made || !keeps(work.generation_key)) continue;
      std::vector<const std::uint8_t*> blocks;
      for (std::size_t i = 0; i < work.generation_size; ++i)
        blocks.push_back(&kept.at(work.generation_key)[i * work.block_bytes]);
      const codec::CheckKey key(work.block_bytes, work.tag_bytes, work.material);
      const codec::CheckSums sums(key, blocks);
      std::copy(sums.bytes().begin(), sums.bytes().end(), work.sums.begin());
      work.made = true;
      ++summed;
    }
    return {};
  }
  bool keeps(std::uint64_t key) const override { return kept.contains(key); }
  std::size_t kept_bytes_max() const override { return kept_bytes; }
  void forget(std::uint64_t key) override { forgotten.push_back(key); }

 private:
  Code next() {
    if (outcomes.empty()) return Code::kOk;
    const Code code = outcomes.front();
    outcomes.pop_front();
    return code;
  }
  codec::CpuBackend cpu_;
  const double fixed_, item_;
};

}  // namespace firn::tests
