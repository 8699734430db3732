#include "client/app/session/completion_command.h"

#include <fmt/format.h>

namespace firn::app {

void CompletionCommand::run(bool awaited) {
  if (plan_.on_complete.empty()) return;
  running_ = true;
  awaited_ = awaited;
  const Status started = host_.loop.run_shell(
      plan_.on_complete,
      {{"FIRN_CONTENT_ID", plan_.content_id.text()},
       {"FIRN_DIR", plan_.dir},
       {"FIRN_NAME", plan_.name()}},
      [this, alive = std::weak_ptr(alive_)](int status) {
        if (alive.expired()) return;
        running_ = false;
        if (status != 0) {
          failed_ = true;
          host_.console.error("on_complete",
                              fmt::format("'{}' ended with {}", plan_.on_complete, status),
                              plan_.content_id);
        }
        host_.changed();
      });
  if (started.ok()) return;
  running_ = false;
  failed_ = true;
  host_.console.error(started.error(), plan_.content_id);
}

}  // namespace firn::app
