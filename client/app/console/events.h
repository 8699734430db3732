// The objects of `--json`: one per line, `event` names the kind. docs/operations.md lists them.
#pragma once

#include <nlohmann/json_fwd.hpp>  // who makes or reads one includes json.hpp
#include <string>

#include "client/app/console/progress_bar.h"
#include "client/core/swarm.h"
#include "proto/base/address.h"
#include "proto/base/result.h"
#include "proto/content/manifest.h"

namespace firn::app {

using Json = nlohmann::ordered_json;

Json start_event(const Manifest& manifest, const core::Report& report, const std::string& listen);
Json progress_event(const ContentId& id, double seconds, const core::Report& report,
                    const ProgressFigures& figures);
// How far a content is: the members that events and the daemon's answers share (docs/rpc.md).
Json progress_members(const ProgressFigures& figures);
// The part of these that says where its bytes came from.
Json arrival_members(const Arrivals& arrivals);
Json complete_event(const Manifest& manifest, double seconds, const core::Report& report);
Json error_event(const std::string& code, const std::string& message);
Json notice_event(const std::string& level, const std::string& message);
// A download stands still; `reason`: of which kind it is (standstill_words.h).
Json standstill_event(const std::string& reason, const std::string& message, double seconds);
// A complete content has lost the first of its generations, or has regained the last.
Json damage_event(std::uint32_t lost, std::uint32_t generations, const std::string& message);
// The same, about one content.
Json about(Json event, const ContentId& id);

}  // namespace firn::app
