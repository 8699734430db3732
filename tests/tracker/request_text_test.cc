#include "tracker/request_text.h"

#include <doctest/doctest.h>

#include "tests/tracker/tracker_fixture.h"

namespace firn::tracker::test {
namespace {

TEST_CASE("a request and its reply make one line of the log") {
  const std::string id = content(1).text();
  proto::AnnounceReply found;
  found.complete_count = 1;
  found.incomplete_count = 4;
  found.peers.resize(1);
  proto::Announce announce;
  announce.content_id = content(1);
  announce.event = proto::AnnounceEvent::kStarted;
  announce.listen_port = 4000;
  CHECK(text_of(announce, found) ==
        "announce of " + id +
            ": started, incomplete, port 4000; 1 peer returned, 1 complete and 4 "
            "incomplete known");
  CHECK(text_of(proto::TrackerManifestGet{content(1), 7}, proto::ManifestPart{9, 7, "abc"}) ==
        "manifest of " + id + " asked for from byte 7; 3 bytes returned");
  CHECK(text_of(proto::TrackerManifestPut{content(1), 9, 4, "abc"},
                proto::TrackerManifestPutReply{7}) ==
        "manifest of " + id + " offered, bytes 4 to 7 of 9; taken up to byte 7");
  CHECK(text_of(proto::TrackerManifestGet{content(1), 0},
                proto::TrackerError{proto::TrackerErrorCode::kSlowDown, "too many requests", 1}) ==
        "manifest of " + id + " asked for from byte 0; refused: too many requests");
}

}  // namespace
}  // namespace firn::tracker::test
