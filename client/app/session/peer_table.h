// The connected peers as a table for people and as an event for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/app/console/events.h"
#include "client/core/view/swarm_view.h"

namespace firn::app {

const char* peer_state_name(core::PeerStatus::State state);
// As programs read it, and in words for people: "-" where there is no reason.
const char* why_not_name(core::WhyNot why);
std::string why_not_words(const std::optional<core::WhyNot>& why);
// The same words of what programs read, also of "-".
std::string why_not_words(std::string name);

// Lines with a heading; one line if there are no peers.
std::vector<std::string> peer_table(const std::string& content,
                                    const std::vector<core::PeerStatus>& peers);
// Of each peer its figures, and of each ban.
Json peers_json(const std::vector<core::PeerStatus>& peers);
Json bans_json(const std::vector<core::Ban>& bans);
Json peers_event(const ContentId& content, const std::vector<core::PeerStatus>& peers);

}  // namespace firn::app
