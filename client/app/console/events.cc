#include "client/app/console/events.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace firn::app {

Json start_event(const Manifest& manifest, const core::Report& report, const std::string& listen) {
  const Info& info = manifest.info;
  return {{"event", "start"},
          {"content_id", manifest.id.text()},
          {"name", info.name},
          {"bytes", info.shape.content_bytes},
          {"bytes_wanted", report.bytes_wanted},
          {"files", info.files.size()},
          {"generations", info.shape.generation_count()},
          {"generation_size", info.shape.generation_size},
          {"block_bytes", info.shape.block_bytes},
          {"rank", report.rank},
          {"rank_total", report.rank_total},
          {"bytes_verified", report.bytes_verified},
          {"listen", listen}};
}

Json progress_event(const ContentId& id, double seconds, const core::Report& report,
                    const ProgressFigures& figures) {
  Json event = {{"event", "progress"}, {"content_id", id.text()}, {"seconds", seconds}};
  event.update(progress_members(figures));
  event.update(Json{{"bytes_verified", report.bytes_verified},
                    {"bytes_received", report.bytes_received},
                    {"bytes_sent", report.bytes_sent},
                    {"blocks_sent", report.blocks_sent},
                    {"blocks_innovative", report.blocks_innovative},
                    {"blocks_redundant", report.blocks_redundant},
                    {"blocks_recoded", report.blocks_recoded}});
  return event;
}

Json progress_members(const ProgressFigures& figures) {
  const auto share = share_of(figures);
  const bool timed = !figures.seeding && std::isfinite(figures.seconds_left);
  Json members = {{"rank", figures.rank},
                  {"rank_total", figures.rank_total},
                  {"share", share ? Json(*share) : Json()},
                  {"eta_seconds", timed ? Json(figures.seconds_left) : Json()},
                  {"peers", figures.peers},
                  {"down_rate", figures.down_rate},
                  {"up_rate", figures.up_rate}};
  members.update(arrival_members(figures.arrivals));
  return members;
}

Json arrival_members(const Arrivals& arrivals) {
  Json origins = Json::array();
  for (const OriginFigures& origin : arrivals.origins)
    origins.push_back({{"url", origin.url},
                       {"bytes", origin.bytes},
                       {"trouble", origin.trouble.empty() ? Json() : Json(origin.trouble)}});
  return {{"from_origins", std::move(origins)},
          {"bytes_from_origins", arrivals.from_origins},
          {"bytes_from_peers", arrivals.from_peers},
          {"bytes_redundant", arrivals.redundant},
          {"bytes_refused", arrivals.refused}};
}

Json complete_event(const Manifest& manifest, double seconds, const core::Report& report) {
  Json blocks_from = Json::array();
  for (const core::NeighbourReport& neighbour : report.neighbours) {
    if (neighbour.blocks_received == 0) continue;
    blocks_from.push_back({{"peer", neighbour.id.text()},
                           {"endpoint", neighbour.endpoint},
                           {"blocks", neighbour.blocks_received},
                           {"recoded", neighbour.blocks_recoded}});
  }
  return {{"event", "complete"},
          {"content_id", manifest.id.text()},
          {"seconds", seconds},
          {"bytes", report.bytes_wanted},
          {"bytes_received", report.bytes_received},
          {"bytes_sent", report.bytes_sent},
          {"blocks_innovative", report.blocks_innovative},
          {"blocks_redundant", report.blocks_redundant},
          {"blocks_recoded", report.blocks_recoded},
          {"blocks_sent", report.blocks_sent},
          {"blocks_from", blocks_from}};
}

Json error_event(const std::string& code, const std::string& message) {
  return {{"event", "error"}, {"code", code}, {"message", message}};
}

Json notice_event(const std::string& level, const std::string& message) {
  return {{"event", "notice"}, {"level", level}, {"message", message}};
}

Json standstill_event(const std::string& reason, const std::string& message, double seconds) {
  return {{"event", "standstill"}, {"reason", reason}, {"message", message}, {"seconds", seconds}};
}

Json damage_event(std::uint32_t lost, std::uint32_t generations, const std::string& message) {
  return {{"event", "damage"},
          {"generations_lost", lost},
          {"generations", generations},
          {"message", message}};
}

Json about(Json event, const ContentId& id) {
  event["content_id"] = id.text();
  return event;
}

}  // namespace firn::app
