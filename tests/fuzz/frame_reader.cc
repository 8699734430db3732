// A stream is cut into the same frames, and breaks at the same place, however it arrives.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "proto/framing.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::frame_reader {
namespace {

using firn::proto::FrameReader;

struct Outcome {
  std::vector<std::string> frames;
  bool broken = false;
  bool operator==(const Outcome&) const = default;
};

// Takes frames after each piece, or (`take_late`) only once all has arrived. `find`: payloads that
// are to be received in place, where a piece may find less space than it needs.
Outcome cut(std::span<const std::uint8_t> stream, std::size_t piece, bool take_late,
            firn::proto::FindPayload find = nullptr) {
  FrameReader reader(find);
  Outcome outcome;
  const auto take = [&] {
    while (!outcome.broken) {
      const auto frame = reader.next_frame();
      outcome.broken = !frame.ok();
      if (outcome.broken || !frame->has_value()) return;
      const auto payload = (*frame)->payload.bytes();
      std::string& whole =
          outcome.frames.emplace_back((*frame)->head.begin(), (*frame)->head.end());
      whole.append(payload.begin(), payload.end());
    }
  };
  while (!stream.empty()) {
    auto part = stream.first(std::min(piece, stream.size()));
    const auto space = reader.prepare(part.size());
    FIRN_CHECK(!space.empty() && (find != nullptr || space.size() >= part.size()));
    part = part.first(std::min(part.size(), space.size()));
    std::memcpy(space.data(), part.data(), part.size());
    reader.commit(part.size());
    stream = stream.subspan(part.size());
    if (!take_late) take();
  }
  take();
  return outcome;
}

}  // namespace

FIRN_FUZZ_TARGET(frame_reader) {
  const std::span stream(data, size);
  const Outcome whole = cut(stream, std::max<std::size_t>(size, 1), false);
  for (const std::size_t piece : {1, 3, 4, 5, 64}) {
    FIRN_CHECK(cut(stream, piece, false) == whole);
    FIRN_CHECK(cut(stream, piece, true) == whole);
    FIRN_CHECK(cut(stream, piece, false, firn::proto::find_payload) == whole);
  }
  return 0;
}

}  // namespace firn::fuzz::frame_reader
