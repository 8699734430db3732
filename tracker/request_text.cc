#include "tracker/request_text.h"

#include <variant>

namespace firn::tracker {
namespace {

std::string name_of(proto::AnnounceEvent event) {
  switch (event) {
    case proto::AnnounceEvent::kPeriodic:
      return "again";
    case proto::AnnounceEvent::kStarted:
      return "started";
    case proto::AnnounceEvent::kCompleted:
      return "completed";
    case proto::AnnounceEvent::kStopped:
      return "stopped";
  }
  return "unknown";
}

std::string request_text(const proto::Announce& request) {
  return "announce of " + request.content_id.text() + ": " + name_of(request.event) + ", " +
         (request.complete ? "complete" : "incomplete") + ", port " +
         std::to_string(request.listen_port);
}
std::string request_text(const proto::TrackerManifestGet& request) {
  return "manifest of " + request.content_id.text() + " asked for from byte " +
         std::to_string(request.offset);
}
std::string request_text(const proto::TrackerManifestPut& request) {
  return "manifest of " + request.content_id.text() + " offered, bytes " +
         std::to_string(request.offset) + " to " +
         std::to_string(request.offset + request.data.size()) + " of " +
         std::to_string(request.total_bytes);
}

std::string reply_text(const proto::AnnounceReply& reply) {
  const std::size_t peers = reply.peers.size();
  return std::to_string(peers) + (peers == 1 ? " peer" : " peers") + " returned, " +
         std::to_string(reply.complete_count) + " complete and " +
         std::to_string(reply.incomplete_count) + " incomplete known";
}
std::string reply_text(const proto::ManifestPart& reply) {
  return std::to_string(reply.data.size()) + " bytes returned";
}
std::string reply_text(const proto::TrackerManifestPutReply& reply) {
  return "taken up to byte " + std::to_string(reply.next_offset);
}
std::string reply_text(const proto::TrackerError& reply) {
  return "refused: " + reply.detail;
}

}  // namespace

std::string text_of(const proto::TrackerRequest& request, const proto::TrackerReply& reply) {
  return std::visit([](const auto& one) { return request_text(one); }, request) + "; " +
         std::visit([](const auto& one) { return reply_text(one); }, reply);
}

}  // namespace firn::tracker
