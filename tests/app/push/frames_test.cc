#include "client/app/push/frames.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "client/app/push/order.h"

namespace firn::app {
namespace {

TEST_CASE("frames come out as they went in, also one byte at a time") {
  const std::string bytes = push_frame(PushFrameKind::kControl, "{}") +
                            push_frame(PushFrameKind::kTunnel, std::string(kFramePayloadMax, 'x')) +
                            push_frame(PushFrameKind::kTunnelEnd, "");
  CHECK(bytes.substr(0, 7) == std::string("\1\0\0\0\2{}", 7));
  for (const std::size_t step : {std::size_t{1}, std::size_t{4096}, bytes.size()}) {
    CAPTURE(step);
    PushFrameReader reader;
    std::vector<PushFrame> frames;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      reader.feed(std::string_view(bytes).substr(at, step));
      for (auto next = reader.next(); *next; next = reader.next()) frames.push_back(**next);
    }
    REQUIRE(frames.size() == 3);
    CHECK(frames[0].payload == "{}");
    CHECK(frames[1].kind == PushFrameKind::kTunnel);
    CHECK(frames[1].payload.size() == kFramePayloadMax);
    CHECK(frames[2].kind == PushFrameKind::kTunnelEnd);
  }
}

TEST_CASE("what is no frame is an error before its payload is waited for") {
  const std::string bad[] = {"hello", std::string("\0\0\0\0\0", 5), std::string("\4\0\0\0\0", 5),
                             std::string("\1\0\1\0\1", 5), std::string("\2\xff\xff\xff\xff", 5)};
  for (const std::string& bytes : bad) {
    CAPTURE(bytes);
    PushFrameReader reader;
    reader.feed(bytes);
    CHECK_FALSE(reader.next().ok());
    reader.feed(push_frame(PushFrameKind::kControl, "{}"));
    CHECK_FALSE(reader.next().ok());
  }
}

TEST_CASE("an order arrives as it was given, whatever its folder is called") {
  const PushOrder order{"firn:link", "-rf $(reboot)\n'\"", "name", true, false, 90};
  const auto read = parse_order(order_text(order));
  REQUIRE(read.ok());
  CHECK(read->link == order.link);
  CHECK(read->dir == order.dir);
  CHECK(read->as == order.as);
  CHECK(read->overwrite);
  CHECK_FALSE(read->repair);
  CHECK(read->timeout_s == 90);
}

TEST_CASE("what is no order, or one of another kind, is refused") {
  for (const char* text : {"", "{", "[]", "7", "{}", R"({"order":2})", R"({"order":"1"})"})
    CHECK_FALSE(parse_order(text).ok());
  CHECK(parse_order(R"({"order":1,"dir":7,"timeout_s":-1,"repair":"yes"})").ok());
}

}  // namespace
}  // namespace firn::app
