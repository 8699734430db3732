#include "proto/program/needless_signals.h"

#include <csignal>
#include <initializer_list>

namespace firn {

void ignore_needless_signals() {
  for (const int number : {SIGPIPE, SIGUSR1, SIGXFSZ, SIGXCPU}) std::signal(number, SIG_IGN);
}

}  // namespace firn
