// One server-sent event (WHATWG HTML, section 9.2): what has changed of a page since the last.
//
//   {"regions": {"id": "<html>"}, "failure": "text"}
//
// A region is an element with an id, whose inner HTML page.js brings up to date.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace firn::web {

// Ids of elements, and their HTML.
using Regions = std::vector<std::pair<std::string, std::string>>;

class LiveUpdate {
 public:
  // What the reader has: regions by id. commit() brings it up to date.
  explicit LiveUpdate(std::map<std::string, std::string>& sent) : sent_(sent) {}

  void regions(const Regions& regions);
  void fail(std::string why) { failure_ = std::move(why); }

  // The event; a comment where nothing has changed.
  std::string text() const;
  // The reader gets it.
  void commit();

 private:
  std::map<std::string, std::string>& sent_;
  Regions changed_;
  std::string failure_;
};

}  // namespace firn::web
