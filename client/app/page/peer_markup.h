// Peers and bans as tables.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/core/view/swarm_view.h"

namespace firn::app {

inline constexpr std::size_t kPeersOnPage = 50;
inline constexpr std::size_t kBansOnPage = 50;

// The peers of page `page` (from 0), those that gave most first. `path`: of the content's page.
std::string peers_section(std::vector<core::PeerStatus> peers, std::size_t page,
                          const std::string& path);
std::string bans_section(const std::vector<core::Ban>& bans);

}  // namespace firn::app
