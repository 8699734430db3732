// The ssh of one host: a child process with its standard input, output and error.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/app/push/byte_stream.h"
#include "client/app/runtime/event_loop.h"
#include "proto/base/result.h"

namespace firn::app {

// Main thread.
class SshChild {
 public:
  struct Events {
    std::function<void(std::string_view)> output;  // of standard output
    std::function<void(std::string_view)> errors;  // of standard error
    std::function<void()> written;                 // something of input() was
    // Last: it has ended, with a code or by a signal, and what it said has been handed on. May
    // destroy the child.
    std::function<void(int code, int signal)> ended;
  };
  // `arguments`: program and arguments. `alone`: it may ask on the terminal, and Ctrl-C there
  // reaches it too; else it has no terminal. Errors: kNotFound and others as errno says.
  static Result<std::unique_ptr<SshChild>> start(EventLoop& loop,
                                                 const std::vector<std::string>& arguments,
                                                 bool alone, Events events);
  // Kills it, if it still runs.
  ~SshChild();

  // Standard input; nothing may be written once it is closed.
  ByteStream& input() { return *input_; }
  // Stops reading standard output for a while, or goes on.
  void pause_output(bool paused) { output_->pause(paused); }
  // Ends it: closes its standard input and sends SIGTERM; `at_once`: SIGKILL.
  void end(bool at_once);

 private:
  struct Process;
  SshChild(EventLoop& loop, Events events);
  Status spawn(const std::vector<std::string>& arguments, bool alone);
  void exited(int code, int signal);
  void look_for_end();

  EventLoop& loop_;
  const Events events_;
  std::unique_ptr<ByteStream> input_, output_, errors_;
  Process* process_ = nullptr;  // freed when libuv has closed it
  int open_outputs_ = 2;        // of output_ and errors_
};

}  // namespace firn::app
