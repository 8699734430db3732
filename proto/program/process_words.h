// The words that a process was started with. Other users of the machine see them while it runs
// (ps).
#pragma once

namespace firn {

// A copy of `argv`, with the null pointer at its end, that stays until the process ends; `argv`
// itself has no secrets any more (without_secrets()). Once, before other threads start.
const char* const* take_process_words(int argc, char** argv);

}  // namespace firn
