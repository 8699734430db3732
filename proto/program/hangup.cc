#include "proto/program/hangup.h"

#include <fcntl.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "proto/base/unique_fd.h"

namespace firn {
namespace {

// A container may lack /dev/tty; the streams tell as well, unless all are redirected.
bool has_terminal() {
  const UniqueFd terminal(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  for (const int fd : {terminal.get(), STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fd >= 0 && ::tcgetsid(fd) == ::getsid(0)) return true;
  return false;
}

Hangup find_out() {
  struct sigaction action {};
  if (::sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
    return Hangup::kIgnored;
  return has_terminal() ? Hangup::kEnds : Hangup::kReopens;
}

void mask_hangup(int how) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGHUP);
  ::pthread_sigmask(how, &signals, nullptr);
}

}  // namespace

Hangup hangup() {
  static const Hangup meaning = find_out();
  return meaning;
}

void keep_hangup_waiting() {
  if (hangup() == Hangup::kReopens) mask_hangup(SIG_BLOCK);
}

void release_hangup() {
  if (hangup() == Hangup::kReopens) mask_hangup(SIG_UNBLOCK);
}

void leave_closed_terminal() {
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    termios settings;
    if (::tcgetattr(stream, &settings) != 0 && errno == EIO) (void)::dup2(nowhere.get(), stream);
  }
}

}  // namespace firn
