// Which origins a content is fetched from, as a command wants it; and how they do, for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/app/origin/origin_access.h"
#include "proto/content/origin_url.h"

namespace firn::app {

struct OriginPlan {
  bool none = false;                     // no origin is used, whoever names it
  std::vector<OriginUrl> by_hand;        // that the user of this machine named
  std::vector<std::string> from_link;    // that the link, or the manifest file given by hand, names
  std::vector<std::string> named_hosts;  // HOST (https) or HOST:PORT: theirs get `given` too
  // What goes along with requests to origins by hand and to named hosts.
  OriginAccess given;
};

struct OriginFigures {
  std::string url;          // OriginUrl::shown()
  std::uint64_t bytes = 0;  // of the content, verified
  std::string trouble;      // why it is not asked now; empty: it is
};

}  // namespace firn::app
