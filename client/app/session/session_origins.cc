#include "client/app/session/session_origins.h"

namespace firn::app {

void SessionOrigins::fetch(const core::FetchFromOrigin& run) {
  for (std::uint32_t g = run.first; g < run.first + run.count; ++g)
    core_.feed(&core::SwarmCore::generation_fetched, g, false);
}

}  // namespace firn::app
