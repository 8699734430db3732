#include "client/app/push/host_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "client/app/console/columns.h"
#include "client/app/console/content_words.h"
#include "client/app/console/quantities.h"
#include "client/app/push/host_list.h"
#include "client/app/push/push_events.h"
#include "proto/base/plain_text.h"

namespace firn::app {
namespace {

constexpr std::size_t kHostColumnsMin = 12;
constexpr std::size_t kStateColumns = 10;  // "connecting"
constexpr std::size_t kShareColumns = 5;   // "99.9%"
constexpr std::size_t kRateColumns = 12;   // "1023.9 MiB/s"
constexpr std::string_view kGap = "  ";

std::string shown_host(const HostRow& row) {
  return escaped(host_text(row.host, row.dir));
}

double share_of_host(const HostRow& row) {
  if (row.state == HostState::kComplete) return 1;
  return row.total == 0 ? 0 : static_cast<double>(row.done) / static_cast<double>(row.total);
}

std::size_t count_in(const std::vector<HostRow>& rows, HostState state) {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const HostRow& row) { return row.state == state; }));
}

const HostRow* slowest(const std::vector<HostRow>& rows) {
  const HostRow* least = nullptr;
  for (const HostRow& row : rows)
    if (row.state == HostState::kReceiving &&
        (least == nullptr || share_of_host(row) < share_of_host(*least)))
      least = &row;
  return least;
}

std::string padded(std::string text, std::size_t columns) {
  const std::size_t used = columns_of(text);
  if (used > columns) text = cut(text, columns);
  return text + std::string(columns - std::min(columns, columns_of(text)), ' ');
}

std::size_t host_columns(const std::vector<const HostRow*>& shown) {
  std::size_t most = 0;
  for (const HostRow* row : shown) most = std::max(most, columns_of(shown_host(*row)));
  return most;
}

// What is wrong, or how the bytes come.
std::string remark(const HostRow& row) {
  return escaped(row.reason.empty() ? row.way : row.reason);
}

std::string table_line(const HostRow& row, std::size_t host_width, std::size_t columns) {
  const bool receiving = row.state == HostState::kReceiving;
  const bool counts = receiving || row.state == HostState::kComplete ||
                      (row.state == HostState::kFailed && row.done > 0);
  const std::string share = counts ? percent_words(share_of_host(row)) : "";
  const std::string rate = receiving ? format_rate(row.rate) : "";
  const std::string line =
      fmt::format("{}{}{}{}{:>{}}{}{:>{}}{}{}", padded(shown_host(row), host_width), kGap,
                  padded(host_state_name(row.state), kStateColumns), kGap, share, kShareColumns,
                  kGap, rate, kRateColumns, kGap, remark(row));
  return cut(std::string_view(line).substr(0, line.find_last_not_of(' ') + 1), columns);
}

// Less: shown first where there is no room for all.
int urgency(const HostRow& row) {
  switch (row.state) {
    case HostState::kFailed:
      return 0;
    case HostState::kConnecting:
      return 1;
    case HostState::kStarting:
      return 2;
    case HostState::kReceiving:
      return 3;
    case HostState::kWaiting:
      return 4;
    case HostState::kComplete:
      return 5;
  }
  return 5;
}

// The `room` rows that need a look: failed ones (in half of the room, if others need the rest),
// then those with the least.
std::vector<const HostRow*> most_urgent(const std::vector<HostRow>& rows, std::size_t room) {
  std::vector<const HostRow*> order;
  for (const HostRow& row : rows) order.push_back(&row);
  if (order.size() <= room) return order;
  std::stable_sort(order.begin(), order.end(), [](const HostRow* a, const HostRow* b) {
    if (urgency(*a) != urgency(*b)) return urgency(*a) < urgency(*b);
    return share_of_host(*a) < share_of_host(*b);
  });
  const std::size_t failed = count_in(rows, HostState::kFailed);
  const std::size_t open = rows.size() - failed - count_in(rows, HostState::kComplete);
  const std::size_t for_open = std::min(open, room - std::min(failed, room / 2));
  const std::size_t for_failed = std::min(failed, room - for_open);
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(for_failed),
              order.begin() + static_cast<std::ptrdiff_t>(failed));
  order.resize(room);
  return order;
}

}  // namespace

std::string hosts_summary(const std::vector<HostRow>& rows) {
  std::string text =
      fmt::format("{} of {} have it", count_in(rows, HostState::kComplete), rows.size());
  if (const std::size_t failed = count_in(rows, HostState::kFailed); failed > 0)
    text += fmt::format(", {} failed", failed);
  const HostRow* last = slowest(rows);
  if (last == nullptr) return text;
  const double rate = std::accumulate(
      rows.begin(), rows.end(), 0.0, [](double sum, const HostRow& row) { return sum + row.rate; });
  text += fmt::format(", {}, least at {}: {}", format_rate(rate), shown_host(*last),
                      percent_words(share_of_host(*last)));
  return last->reason.empty() ? text : text + fmt::format(" ({})", escaped(last->reason));
}

std::vector<std::string> host_table(const std::vector<HostRow>& rows, std::size_t columns,
                                    std::size_t lines) {
  std::vector<std::string> table;
  if (lines > 1) {
    const auto shown = most_urgent(rows, lines - 1);
    const std::size_t width = std::min(host_columns(shown), std::max(kHostColumnsMin, columns / 3));
    for (const HostRow* row : shown) table.push_back(table_line(*row, width, columns));
  }
  if (lines > 0) table.push_back(cut(hosts_summary(rows), columns));
  return table;
}

std::vector<std::string> HostChanges::take(const std::vector<HostRow>& rows) {
  said_.resize(rows.size(), HostState::kWaiting);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const HostRow& row = rows[at];
    if (row.state <= said_[at]) continue;
    said_[at] = row.state;
    if (row.state < HostState::kReceiving) continue;
    std::string line = fmt::format("{}: {}", shown_host(row), host_state_name(row.state));
    if (!remark(row).empty()) line += fmt::format(" ({})", remark(row));
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> closing_lines(const std::vector<HostRow>& rows) {
  std::vector<const HostRow*> all;
  for (const HostRow& row : rows) all.push_back(&row);
  const std::size_t width = host_columns(all);
  std::vector<std::string> lines;
  for (const HostRow& row : rows) {
    const bool has_it = row.state == HostState::kComplete;
    const std::string code = row.code < 0 ? "-" : std::to_string(row.code);
    std::string words = escaped(has_it || row.reason.empty() ? row.last : row.reason);
    const bool adds = !row.last.empty() && words.find(escaped(row.last)) == std::string::npos;
    if (adds) words += fmt::format(" [{}]", escaped(row.last));
    const std::string line = fmt::format(
        "{}  {:<6}  {:>10}  {:>7}  {:<11}  {:>3}  {}", padded(shown_host(row), width),
        has_it ? "ok" : "failed", format_bytes(row.done), fmt::format("{:.1f} s", row.seconds),
        row.way.empty() ? "-" : escaped(row.way), code, words);
    lines.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
  }
  return lines;
}

}  // namespace firn::app
