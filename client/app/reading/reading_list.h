// The contents of a process that can be read, by content id.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "client/app/reading/content_reading.h"
#include "proto/base/ids.h"

namespace firn::app {

// Any thread. A session adds its content when its store is open, and removes it when it ends.
class ReadingList {
 public:
  // Null: there is none.
  std::shared_ptr<ContentReading> find(const ContentId& content) const;
  // The secret of this content's streams: 256 random bits as text, made when the content is added,
  // gone when it is removed. Empty: there is none.
  std::string token(const ContentId& content) const;

  // In the place of one that ends.
  void add(const ContentId& content, std::shared_ptr<ContentReading> reading);
  // Unless another has taken its place.
  void remove(const ContentId& content, const ContentReading& reading);

 private:
  struct Entry {
    std::shared_ptr<ContentReading> reading;
    std::string token;
  };
  mutable std::mutex mutex_;
  std::map<ContentId, Entry> entries_;
};

}  // namespace firn::app
