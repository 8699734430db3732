#include "proto/base/start_thread.h"

#include <system_error>
#include <utility>

namespace firn {

Result<std::thread> start_thread(const std::string& purpose, std::function<void()> run) {
  try {
    return std::thread(std::move(run));
  } catch (const std::system_error& failed) {
    return Error{
        ErrorCode::kBusy, "start a thread for " + purpose,
        failed.code().message() +
            "; raise the limit of tasks (ulimit -u, TasksMax=, a container's pids), or end "
            "what else runs there"};
  }
}

}  // namespace firn
