// What SIGHUP means to a process, which depends on how it was started.
#pragma once

namespace firn {

enum class Hangup {
  kIgnored,  // as under nohup: stays so
  kEnds,     // it has a controlling terminal: the signal says that it closes
  kReopens,  // it has none: the signal asks it to open its log anew
};

// As things were at the first call: once a terminal closes there is none any more.
Hangup hangup();

// Early in main(), before there are threads. A process without a terminal keeps the signal waiting
// until it takes it: while it starts it has nothing to open anew, and must not end.
void keep_hangup_waiting();
// Lets a signal that was kept waiting come to the calling thread, which has a handler by now.
void release_hangup();

// Once the terminal has closed: makes standard output and error, where they went there, go nowhere.
void leave_closed_terminal();

}  // namespace firn
