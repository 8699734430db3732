#include "client/app/reading/reading_list.h"

#include <utility>

#include "proto/web/token.h"

namespace firn::app {

std::shared_ptr<ContentReading> ReadingList::find(const ContentId& content) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(content);
  return found == entries_.end() ? nullptr : found->second.reading;
}

std::string ReadingList::token(const ContentId& content) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(content);
  return found == entries_.end() ? "" : found->second.token;
}

void ReadingList::add(const ContentId& content, std::shared_ptr<ContentReading> reading) {
  const std::lock_guard lock(mutex_);
  entries_[content] = {std::move(reading), web::fresh_token()};
}

void ReadingList::remove(const ContentId& content, const ContentReading& reading) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(content);
  if (found != entries_.end() && found->second.reading.get() == &reading) entries_.erase(found);
}

}  // namespace firn::app
