// Signals that are no reason for a program of ours to end.
#pragma once

namespace firn {

// Early in main(). What they tell comes as an error where it matters: a reader of standard output
// that has gone (SIGPIPE), a file longer than the limit of sizes (SIGXFSZ). The others are a table
// of peers that nobody prints yet (SIGUSR1), and processor time past the soft limit (SIGXCPU).
void ignore_needless_signals();

}  // namespace firn
