// Notices that strangers can cause without end: of each topic eight are said at once and one in ten
// seconds after that. What is passed over is counted, and told with the last of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/core/base/actions.h"
#include "proto/base/ids.h"
#include "proto/base/token_bucket.h"

namespace firn::app {

// Main thread. Times do not go back.
class RepeatedNotices {
 public:
  // What to say of it now; nullopt: it is passed over.
  std::optional<std::string> take(const core::Notice& notice, const ContentId& content,
                                  core::TimeUs now);
  // Of topics of which something was passed over, and one may be said again: the last of them, with
  // their number. nullopt, at the end: of all topics of which something was passed over.
  struct Said {
    core::Notice notice;
    ContentId content;  // which it is about
  };
  std::vector<Said> due(std::optional<core::TimeUs> now);

 private:
  struct Topic {
    TokenBucket allowance;
    std::uint64_t passed_over = 0;
    Said last = {};  // of those
  };
  std::map<std::string, Topic> topics_;
};

}  // namespace firn::app
