#include "proto/transport/descriptors.h"

#include <sys/resource.h>

#include <algorithm>

namespace firn::proto::transport {

namespace {

constexpr std::size_t kOthersMax = 4096;  // descriptors that are kept for files and the like

constexpr std::size_t kDescriptorsLeast = 32;

std::size_t others_within(std::size_t descriptors) {
  return std::min(descriptors / 2, kOthersMax);
}

}  // namespace

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

Status have_descriptors_to_start() {
  const std::size_t allowed = descriptor_limit();
  if (allowed >= kDescriptorsLeast) return Done{};
  return Error{ErrorCode::kBusy, "start",
               "the system allows " + std::to_string(allowed) + " descriptors, and at least " +
                   std::to_string(kDescriptorsLeast) +
                   " are needed; raise the limit (ulimit -n, LimitNOFILE=)"};
}

std::size_t connections_within(std::size_t wanted, std::size_t descriptors) {
  return std::min(wanted, std::max<std::size_t>(descriptors - others_within(descriptors), 1));
}

std::size_t connections_in_all_within(std::size_t descriptors) {
  return connections_within(descriptors, descriptors) + others_within(descriptors) / 8;
}

std::size_t open_files_within(std::size_t descriptors) {
  return others_within(descriptors) / 2;
}

std::size_t downloads_within(std::size_t descriptors) {
  return others_within(descriptors) / 4;
}

std::size_t descriptors_for(std::size_t connections) {
  return connections + std::min(connections, kOthersMax);
}

Status make_room_for_connections(std::size_t connections, const std::string& what) {
  const std::size_t wanted = descriptors_for(connections);
  raise_descriptor_limit(wanted);
  const std::size_t allowed = descriptor_limit();
  if (allowed >= wanted) return Done{};
  return Error{ErrorCode::kBadInput, what,
               "that needs " + std::to_string(wanted) + " descriptors and the system allows " +
                   std::to_string(allowed) + "; raise the hard limit (ulimit -Hn, LimitNOFILE=)"};
}

}  // namespace firn::proto::transport
