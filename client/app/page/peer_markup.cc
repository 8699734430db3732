#include "client/app/page/peer_markup.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/app/console/quantities.h"
#include "client/app/session/peer_table.h"
#include "proto/web/markup.h"

namespace firn::app {
namespace {

using web::html;

constexpr const char* kPeerWords =
    "<p class=\"note\"><dfn>Received</dfn> and <dfn>Sent</dfn>: bytes of blocks from the peer and "
    "to it. "
    "<dfn>Innovative</dfn>: the share of its blocks that brought something new; the others could "
    "be "
    "computed from blocks that were here. <dfn>authority</dfn>: the peer has proven that it speaks "
    "for "
    "the publisher, so its blocks need no other proof.</p>";

// Empty: there is no reason.
std::string reason_of(const std::optional<core::WhyNot>& why) {
  return why ? why_not_words(why) : "";
}

std::string row_of(const core::PeerStatus& peer) {
  const std::string innovation =
      peer.blocks_received == 0
          ? "-"
          : fmt::format("{:.0f}%", 100.0 * static_cast<double>(peer.blocks_innovative) /
                                       static_cast<double>(peer.blocks_received));
  const std::string id = peer.id.text();
  std::string row = fmt::format(
      "<tr id=\"p-{}\"><th scope=\"row\" title=\"{}\"><code>{}</code></th><td>{}</td>"
      "<td>{}</td>",
      id, id, peer.id.short_text(), html(peer.endpoint), html(peer.agent));
  const auto number = [&row](const std::string& text) {
    row += "<td class=\"n\">" + text + "</td>";
  };
  number(fmt::format("{:.1f}%", 100 * peer.held));
  number(format_bytes(peer.bytes_received));
  number(format_bytes(peer.bytes_sent));
  number(format_rate(peer.down_rate));
  number(format_rate(peer.up_rate));
  number(innovation);
  return row + fmt::format("<td>{}{}</td><td>{}</td><td>{}</td></tr>", peer_state_name(peer.state),
                           peer.authority ? ", authority" : "", reason_of(peer.not_sent),
                           reason_of(peer.not_received));
}

std::string pages_of(std::size_t count, std::size_t page, const std::string& path) {
  const std::size_t pages = (count + kPeersOnPage - 1) / kPeersOnPage;
  if (pages < 2) return "";
  std::string links = "<nav aria-label=\"Pages of peers\" class=\"pages\">";
  for (std::size_t i = 0; i < pages; ++i)
    links += fmt::format("<a href=\"{}?peers={}#peers\"{}>{}</a> ", html(path), i,
                         i == page ? " aria-current=\"page\"" : "", i * kPeersOnPage + 1);
  return links + "</nav>";
}

}  // namespace

std::string peers_section(std::vector<core::PeerStatus> peers, std::size_t page,
                          const std::string& path) {
  if (peers.empty()) return "<p>No peer is connected.</p>";
  std::ranges::stable_sort(peers, std::ranges::greater(), &core::PeerStatus::bytes_received);
  const std::size_t count = peers.size();
  page = std::min(page, (count - 1) / kPeersOnPage);
  std::string rows;
  for (std::size_t i = page * kPeersOnPage; i < std::min(count, (page + 1) * kPeersOnPage); ++i)
    rows += row_of(peers[i]);
  return fmt::format("<p>{} connected</p>", count) + kPeerWords + pages_of(count, page, path) +
         web::scrolled(
             "Peers",
             "<table class=\"cards peers\"><thead><tr><th scope=\"col\">Peer</th><th "
             "scope=\"col\">Address"
             "</th><th scope=\"col\">Program</th><th scope=\"col\" class=\"n\">Has</th><th "
             "scope=\"col\" class=\"n\">Received</th>"
             "<th scope=\"col\" class=\"n\">Sent</th><th scope=\"col\" class=\"n\">Down</th>"
             "<th scope=\"col\" class=\"n\">Up</th><th scope=\"col\" class=\"n\">Innovative</th>"
             "<th scope=\"col\">State</th><th scope=\"col\">None to it: why</th>"
             "<th scope=\"col\">None from it: why</th></tr></thead><tbody>" +
                 rows + "</tbody></table>");
}

std::string bans_section(const std::vector<core::Ban>& bans) {
  if (bans.empty()) return "";
  std::string rows;
  for (std::size_t i = 0; i < std::min(bans.size(), kBansOnPage); ++i) {
    const core::Ban& ban = bans[i];
    rows += fmt::format(
        "<tr><th scope=\"row\" title=\"{}\"><code>{}</code></th><td>{}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
        ban.id.text(), ban.id.short_text(), html(ban.ip), ban.strikes,
        format_seconds(static_cast<double>(ban.left / core::kSecond)), html(ban.why));
  }
  std::string more;
  if (bans.size() > kBansOnPage)
    more = fmt::format("<p>And {} more, which end sooner.</p>", bans.size() - kBansOnPage);
  return "<h2>Bans</h2>" +
         web::scrolled("Bans",
                       "<table><thead><tr><th scope=\"col\">Peer</th><th scope=\"col\">Address"
                       "</th><th scope=\"col\" class=\"n\">Times</th><th scope=\"col\" "
                       "class=\"n\">Time left</th>"
                       "<th scope=\"col\">Because it</th></tr></thead><tbody>" +
                           rows + "</tbody></table>") +
         more;
}

}  // namespace firn::app
