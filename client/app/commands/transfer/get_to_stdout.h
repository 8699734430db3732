// firn get LINK -o -: one file goes to standard output as it comes; the content lies in a temporary
// folder meanwhile.
#pragma once

#include "client/app/console/console.h"
#include "client/app/console/exit_codes.h"
#include "client/app/driver/peer_driver.h"
#include "proto/base/unique_fd.h"

namespace firn::app {

// Errors: kBadInput (it is a terminal).
Status check_stdout();
// The only descriptor of standard output: what is printed there from now on goes nowhere.
UniqueFd take_stdout();

// Runs `driver`, which stays without sessions, until its only session has ended and all is written.
// Standard output is closed once it has the last byte. What fails has been said.
ExitCode run_to_stdout(PeerDriver& driver, const ContentSession& session, Console& console);

}  // namespace firn::app
