#include "proto/transport/descriptors.h"

#include <sys/resource.h>

#include <algorithm>

namespace firn::proto::transport {

std::size_t descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return static_cast<std::size_t>(limit.rlim_cur);
}

void raise_descriptor_limit(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t reachable = std::min<rlim_t>(wanted, limit.rlim_max);
  if (limit.rlim_cur >= reachable) return;
  limit.rlim_cur = reachable;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);  // what is refused leaves us with what there is
}

std::size_t connections_within(std::size_t wanted, std::size_t descriptors) {
  return std::min(wanted, std::max<std::size_t>(descriptors / 2, 1));
}

}  // namespace firn::proto::transport
