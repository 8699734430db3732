#include "proto/framing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "proto/base/limits.h"

using namespace firn;
using namespace firn::proto;

namespace {

std::string framed(std::string_view body) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(body.size() >> shift);
  return out.append(body);
}

void feed(FrameReader& reader, std::string_view bytes) {
  const auto space = reader.prepare(bytes.size());
  REQUIRE(space.size() >= bytes.size());
  if (!bytes.empty()) std::memcpy(space.data(), bytes.data(), bytes.size());
  reader.commit(bytes.size());
}

std::string text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::string> take_all(FrameReader& reader) {
  std::vector<std::string> frames;
  for (;;) {
    auto frame = reader.next();
    REQUIRE(frame.ok());
    if (!*frame) return frames;
    frames.push_back(text_of(**frame));
  }
}

std::vector<std::string> random_bodies(std::mt19937& random, std::size_t count) {
  std::vector<std::string> bodies(count);
  for (std::string& body : bodies) {
    body.resize(random() % 4 == 0 ? 1 + random() % 100'000 : 1 + random() % 50);
    std::ranges::generate(body, [&] { return static_cast<char>(random()); });
  }
  return bodies;
}

}  // namespace

TEST_CASE("frames come out the same however the stream is cut") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto bodies = random_bodies(random, 1 + random() % 20);
    std::string stream;
    for (const std::string& body : bodies) stream += framed(body);

    FrameReader reader;
    std::vector<std::string> frames;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t piece = std::min<std::size_t>(1 + random() % 70'000, stream.size() - at);
      feed(reader, std::string_view(stream).substr(at, piece));
      at += piece;
      // Sometimes leave frames waiting while more arrives.
      if (random() % 3 != 0)
        for (auto& frame : take_all(reader)) frames.push_back(std::move(frame));
    }
    for (auto& frame : take_all(reader)) frames.push_back(std::move(frame));
    CHECK(frames == bodies);
  }
}

TEST_CASE("frames come out of a stream that arrives one byte at a time") {
  std::mt19937 random(7);
  const auto bodies = random_bodies(random, 12);
  FrameReader reader;
  std::vector<std::string> frames;
  for (const std::string& body : bodies)
    for (const char byte : framed(body)) {
      feed(reader, std::string_view(&byte, 1));
      for (auto& frame : take_all(reader)) frames.push_back(std::move(frame));
    }
  CHECK(frames == bodies);
}

TEST_CASE("the largest frame passes") {
  const std::string body(limits::kFrameBytesMax, 'x');
  FrameReader reader;
  feed(reader, framed(body));
  CHECK(take_all(reader) == std::vector<std::string>{body});
}

TEST_CASE("a length of zero or past the limit breaks the stream for good") {
  for (const std::size_t length : {std::size_t{0}, limits::kFrameBytesMax + 1,
                                   std::size_t{0xffffffff}, std::size_t{0x80000000}}) {
    CAPTURE(length);
    FrameReader reader;
    feed(reader, framed("fine"));
    std::string prefix;
    for (int shift = 24; shift >= 0; shift -= 8) prefix += static_cast<char>(length >> shift);
    feed(reader, prefix);
    const auto first = reader.next();
    REQUIRE(first.ok());
    CHECK(text_of(**first) == "fine");
    for (int again = 0; again < 3; ++again) {
      const auto frame = reader.next();
      REQUIRE_FALSE(frame.ok());
      CHECK(frame.error().code == ErrorCode::kProtocol);
      feed(reader, framed("more"));
    }
  }
}

TEST_CASE("a promised length takes no memory before the bytes are there") {
  FrameReader reader;
  feed(reader, framed(std::string(limits::kFrameBytesMax, 'x')).substr(0, 4));
  CHECK_FALSE(reader.next()->has_value());
  CHECK(reader.prepare(1).size() < 1024);
  // And while they come, space stays within twice of what came, plus one read.
  constexpr std::size_t kRead = 4096;
  std::size_t arrived = 4;
  for (int i = 0; i < 64; ++i) {
    feed(reader, std::string(kRead, 'x'));
    arrived += kRead;
    CHECK(reader.prepare(kRead).size() <= arrived + kRead);
  }
}

TEST_CASE("memory of a large frame is given back when small ones follow") {
  FrameReader reader;
  feed(reader, framed(std::string(1 << 20, 'x')));
  CHECK(take_all(reader).size() == 1);
  feed(reader, framed("small"));
  CHECK(take_all(reader).size() == 1);
  CHECK(reader.prepare(4096).size() == 4096);
}

TEST_CASE("a buffer with nothing in it can be given back, and one with a part of a frame is kept") {
  FrameReader reader;
  reader.release();
  feed(reader, framed("x") + framed("yz").substr(0, 5));
  REQUIRE(reader.next().value().has_value());
  REQUIRE_FALSE(reader.next().value().has_value());
  reader.release();  // keeps what has come of the second
  feed(reader, "z");
  const auto second = reader.next();
  REQUIRE(second.value().has_value());
  CHECK(std::string((*second)->begin(), (*second)->end()) == "yz");
  reader.release();
  CHECK(reader.prepare(1).size() == 1);
}
