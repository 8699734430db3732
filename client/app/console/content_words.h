// What people read of a content of the daemon, the same in a terminal and on the page: words made
// from the members that the daemon's methods answer (docs/rpc.md). Nothing is escaped.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/app/console/events.h"

namespace firn::app {

// "99.9%": never 100 before it is whole.
std::string percent_words(double share);

// Each is "-" where it is not known, as the share of files that are gone.
std::string share_words(const Json& content);
std::string eta_words(const Json& content);
std::string size_words(const Json& content);
// "2 of 5 files"; empty: all are chosen.
std::string part_words(const Json& content);
// "1.3 GiB from origins"; empty: nothing came from there.
std::string origin_words(const Json& content);
// With its place, where it waits for one, and its priority.
std::string state_words(const Json& content);

// "none" where there is no limit.
std::string limit_words(const Json& of, const char* name);
// "up 2.0 MiB/s, down none"
std::string limits_words(const Json& of);
bool has_limits(const Json& of);

// Names and what there is to say, which may be empty.
using NamedWords = std::vector<std::pair<const char*, std::string>>;
NamedWords progress_words(const Json& content);  // how far it is, and at what rate
NamedWords arrival_words(const Json& content);   // where it came from, of what came in this run
NamedWords trouble_words(const Json& content);   // what is wrong
NamedWords setting_words(const Json& content);   // where it is, and how the daemon treats it

}  // namespace firn::app
