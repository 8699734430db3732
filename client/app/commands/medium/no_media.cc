// Of a build without media: `firn medium`, and `firn seed --from-medium`.
#include "client/app/commands/absent_command.h"
#include "client/app/commands/medium/seed_media.h"
#include "client/app/commands/transfer/running.h"

namespace firn::app {

void add_medium_command(CLI::App& app, Chosen& chosen) {
  add_absent_command(app, chosen, "medium", "media");
}

ExitCode seed_from_media(const SeedMediaRequest&, Console& console) {
  return fail(console, Error{ErrorCode::kBadInput, absent_words("--from-medium", "media"), ""});
}

}  // namespace firn::app
