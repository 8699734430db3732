// Which hosts `firn push` serves: what its arguments and --hosts name, read as scp and clush read
// it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/result.h"

namespace firn::app {

inline constexpr std::size_t kPushHostsMax = 100'000;

struct PushHost {
  std::string host;  // one host as given: "node1", "user@node1", "[fe80::1%eth0]"
  std::string dir;   // as given, or that of -o; empty: the folder where a login begins

  bool operator==(const PushHost&) const = default;
};

struct HostList {
  std::vector<PushHost> hosts;       // in the order in which they were given; none twice
  std::vector<std::string> notices;  // what a person should know, such as hosts given twice
};

// `arguments`: HOST[:DIR] each, where HOST may be a set: "node[1-100]", "node[001-010,12]-ib",
// "rack[1-2]n[1-40]", "a,b,c". `host_options`: values of --hosts, each such a set or the path of a
// file with one on each line. A text with a slash outside of DIR is a path, and so is the name of a
// file that is there.
// Errors: kBadInput names the host and says what is wrong with it; those of reading the file.
Result<HostList> parse_hosts(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& host_options,
                             const std::string& default_dir);

// "node1:/data": as parse_hosts() reads it. Without DIR: the host alone.
std::string host_text(std::string_view host, std::string_view dir);

}  // namespace firn::app
