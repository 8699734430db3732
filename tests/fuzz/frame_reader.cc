// A stream is cut into the same frames, and breaks at the same place, however it arrives.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "proto/framing.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using firn::proto::FrameReader;

struct Outcome {
  std::vector<std::string> frames;
  bool broken = false;
  bool operator==(const Outcome&) const = default;
};

// Takes frames after each piece, or (`take_late`) only once all has arrived.
Outcome cut(std::span<const std::uint8_t> stream, std::size_t piece, bool take_late) {
  FrameReader reader;
  Outcome outcome;
  const auto take = [&] {
    while (!outcome.broken) {
      const auto frame = reader.next();
      outcome.broken = !frame.ok();
      if (outcome.broken || !frame->has_value()) return;
      outcome.frames.emplace_back((*frame)->begin(), (*frame)->end());
    }
  };
  while (!stream.empty()) {
    const auto part = stream.first(std::min(piece, stream.size()));
    const auto space = reader.prepare(part.size());
    FIRN_CHECK(space.size() >= part.size());
    std::memcpy(space.data(), part.data(), part.size());
    reader.commit(part.size());
    stream = stream.subspan(part.size());
    if (!take_late) take();
  }
  take();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span stream(data, size);
  const Outcome whole = cut(stream, std::max<std::size_t>(size, 1), false);
  for (const std::size_t piece : {1, 3, 4, 5, 64}) {
    FIRN_CHECK(cut(stream, piece, false) == whole);
    FIRN_CHECK(cut(stream, piece, true) == whole);
  }
  return 0;
}
