#include "client/app/commands/transfer/get_to_stdout.h"

#include <fcntl.h>
#include <unistd.h>

#include <optional>

#include "client/app/commands/transfer/running.h"
#include "client/app/reading/file_output.h"
#include "client/content/file_choice.h"

namespace firn::app {

Status check_stdout() {
  if (::isatty(STDOUT_FILENO) != 1) return Done{};
  return Error{ErrorCode::kBadInput, "write a file to standard output",
               "it is a terminal: put > FILE or | COMMAND after -o -"};
}

UniqueFd take_stdout() {
  UniqueFd taken(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (nowhere.get() >= 0) ::dup2(nowhere.get(), STDOUT_FILENO);
  return taken;
}

ExitCode run_to_stdout(PeerDriver& driver, const ContentSession& session, Console& console) {
  std::optional<FileOutput> output;
  driver.on_turn([&](core::TimeUs) {
    const auto reading = driver.readings().find(session.plan().content_id);
    if (!output && reading) {
      const auto file = content::only_file(session.plan().manifest->info, session.chosen());
      output.emplace(reading, file.value(), take_stdout(), [&driver] { driver.loop().wake(); });
    }
    const auto result = output ? output->result() : std::nullopt;
    const bool ended = session.ended() && (result || !output || !session.complete());
    if (ended || (result && !result->ok())) driver.stop();
    return core::kNever;
  });
  const ExitCode code = driver.run();
  const auto result = output ? output->result() : std::nullopt;
  if (code != ExitCode::kOk && code != ExitCode::kInterrupted) return code;
  if (result && result->ok()) return code;
  if (!result || result->error().code == ErrorCode::kCancelled) return ExitCode::kInterrupted;
  if (result->error().code == ErrorCode::kUnreachable) return ExitCode::kPipeClosed;
  return fail(console, result->error());
}

}  // namespace firn::app
