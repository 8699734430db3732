// What ssh runs on a remote host: finds a firn there or installs one, then becomes `firn receive`.
//
// The text is the same for every push: what a user names (links, folders, options) never reaches
// the remote shell. Its standard input brings orders, one a line; its standard output answers with
// lines that begin with "firn-push ". All other lines are noise of the login shell.
//
//   answer                                  when
//   firn-push 1 MACHINE GLIBC FIRN          first; `-` for a glibc or firn that is not there
//   firn-push install                       `cached` found nothing that fits; another order is read
//   firn-push start                         `firn receive` comes next: standard input and output
//   are its own firn-push failed REASON                 last
//
//   order
//   run                                     start the host's own firn
//   cached DIGEST                           start the firn that an earlier push installed
//   install SIZE DIGEST                     SIZE bytes follow: a tar.gz with one folder; install
//   and start it (anything else, or the end)             exit
//
// DIGEST is the SHA-256, in hexadecimal, of the folder's SHA256SUMS, which lists all other files;
// both are compared before each start. The folder is ~/.cache/firn/VERSION, mode 0700, put there by
// rename.
#pragma once

#include <string>

namespace firn::app {

// The command for the remote login shell, of whatever kind. One line, and nothing in it is special
// within single quotes to sh, csh or fish. Needs a POSIX sh with coreutils or busybox.
std::string remote_start();

}  // namespace firn::app
