#include "client/app/console/repeated_notices.h"

#include <utility>

namespace firn::app {
namespace {

// A notice costs as many tokens as seconds pass before the next; one token comes a second.
constexpr std::uint64_t kSeconds = 10;
constexpr std::uint64_t kAtOnce = 8;
// Topics are few; if a stranger could make some up, these share an allowance.
constexpr std::size_t kTopicsMax = 64;

}  // namespace

std::optional<std::string> RepeatedNotices::take(const core::Notice& notice,
                                                 const ContentId& content, core::TimeUs now) {
  const bool known = topics_.contains(notice.topic) || topics_.size() < kTopicsMax;
  const auto at = topics_.try_emplace(known ? notice.topic : std::string(),
                                      Topic{TokenBucket(1, kSeconds * kAtOnce, now)});
  Topic& topic = at.first->second;
  // In order: what was passed over is told first.
  if (topic.passed_over == 0 && topic.allowance.try_take(kSeconds, now)) return notice.text;
  ++topic.passed_over;
  topic.last = {notice, content};
  return std::nullopt;
}

std::vector<RepeatedNotices::Said> RepeatedNotices::due(std::optional<core::TimeUs> now) {
  std::vector<Said> told;
  for (auto& [name, topic] : topics_) {
    if (topic.passed_over == 0 || (now && !topic.allowance.try_take(kSeconds, *now))) continue;
    Said& said = told.emplace_back(std::move(topic.last));
    if (topic.passed_over > 1)
      said.notice.text +=
          " (and " + std::to_string(topic.passed_over - 1) + " more like this before it)";
    topic.passed_over = 0;
  }
  return told;
}

}  // namespace firn::app
