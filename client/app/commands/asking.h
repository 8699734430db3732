// What the commands that ask a running daemon share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "client/app/commands/options/options.h"
#include "client/app/console/events.h"
#include "proto/base/result.h"

namespace firn::app {

struct AskOptions {
  std::string socket;  // empty: where a daemon listens unless told otherwise
  ConsoleOptions console;
};

// --socket, and those of the console.
void add_asking_options(CLI::App& command, AskOptions& options);
// Where the daemon is asked.
std::string socket_of(const AskOptions& options);
// The CONTENT that a command is about.
CLI::Option* add_content_option(CLI::App& command, std::string& content);

// As call_daemon(). What a daemon cannot do at this moment (kBusy), such as finding a content by a
// name that the network is being asked for, is asked again for three seconds.
Result<Json> ask(const AskOptions& options, const std::string& method, const Json& params);

// Calls `look` at once and then every `interval`, while it says true.
void look_again(core::TimeUs interval, const std::function<bool()>& look);

// A path for a daemon, whose current folder is another one; nothing need be there yet. Links are
// followed as far as the path exists. Relative as it was where there is no current folder any more.
std::string absolute(const std::string& path);

// A member of a daemon's answer as text for a person; "-" where there is none.
std::string cell(const Json& content, const char* name);
// An event with the members of an answer.
void tell_about(const std::string& event, const Json& result, Console& console);

}  // namespace firn::app
