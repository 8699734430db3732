// What a program tells the service manager that started it (systemd, `Type=notify`): one datagram
// to the Unix socket that the variable NOTIFY_SOCKET names. Source: sd_notify(3), which says that a
// program may do without libsystemd.
#pragma once

#include <string_view>

#include "proto/base/result.h"

namespace firn {

// `state` is lines such as `READY=1` or `STOPPING=1`. Nothing happens where no service manager
// asked, which is no error. Never waits. Errors: kBadInput (NOTIFY_SOCKET is no name of a Unix
// socket), kIo (nobody takes the datagram). Any thread, as long as no other one changes the
// environment.
Status tell_service_manager(std::string_view state);

}  // namespace firn
