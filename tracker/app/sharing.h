// What main makes of --redis: the registries that share, and the link.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tracker/app/settings.h"
#include "tracker/redis/link.h"
#include "tracker/redis/registry_redis.h"

namespace firn::tracker {

using Registries = std::vector<std::unique_ptr<Registry>>;

// Outlives the registries that it has wrapped.
class Sharing {
 public:
  // Nothing is shared without --redis. Errors: kBadInput (options), those of the password's file.
  static Result<Sharing> of(const Settings& settings);

  // Registries that answer from `below`, which came from disk at `opened`; `below` itself where
  // nothing is shared.
  Registries wrap(Registries below, Time opened);
  // Starts the link's thread. `log` as LinkOptions. Errors: kBusy.
  Status begin(std::function<Time()> clock, std::function<void(bool, const std::string&)> log);

 private:
  std::optional<RedisOptions> options_;
  std::unique_ptr<Post> post_;
  std::unique_ptr<RedisLink> link_;
};

}  // namespace firn::tracker
