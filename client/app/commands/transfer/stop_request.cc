#include "client/app/commands/transfer/stop_request.h"

#include <unistd.h>

#include "proto/program/hangup.h"

namespace firn::app {
namespace {

volatile std::sig_atomic_t noted = 0;

void note(int number) {
  if (noted != 0 && number != SIGHUP) ::_exit(static_cast<int>(ExitCode::kInterrupted));
  noted = 1;
}

void take(int number, struct sigaction& before) {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  FIRN_CHECK(::sigaction(number, &action, &before) == 0);
}

}  // namespace

StopRequest::StopRequest() : ends_at_hangup_(hangup() == Hangup::kEnds) {
  noted = 0;
  take(SIGINT, interrupt_);
  take(SIGTERM, terminate_);
  if (ends_at_hangup_) take(SIGHUP, hangup_);
}

StopRequest::~StopRequest() {
  (void)::sigaction(SIGINT, &interrupt_, nullptr);
  (void)::sigaction(SIGTERM, &terminate_, nullptr);
  if (ends_at_hangup_) (void)::sigaction(SIGHUP, &hangup_, nullptr);
}

bool StopRequest::requested() {
  return noted != 0;
}

ExitCode fail_or_stop(Console& console, const Error& error, const std::string& consequence) {
  if (error.code == ErrorCode::kCancelled) {
    console.info("stopped; " + consequence);
  } else {
    console.error(error);
  }
  return exit_code_of(error);
}

}  // namespace firn::app
