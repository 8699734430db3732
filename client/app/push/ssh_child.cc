#include "client/app/push/ssh_child.h"

#include <uv.h>

#include <csignal>
#include <utility>

extern char** environ;

namespace firn::app {
namespace {

// A program that ssh left in the background (ControlPersist) holds its outputs open.
constexpr std::uint64_t kOutputTimeMs = 500;

}  // namespace

struct SshChild::Process {
  uv_process_t handle;
  uv_timer_t patience;
  SshChild* owner = nullptr;  // null: gone
  int open = 2;               // handles
  int code = 0, signal = 0;
  bool started = false, exited = false;

  void close() {
    const auto closed = [](uv_handle_t* one) {
      auto* const process = static_cast<Process*>(one->data);
      if (--process->open == 0) delete process;
    };
    uv_close(reinterpret_cast<uv_handle_t*>(&handle), closed);
    uv_close(reinterpret_cast<uv_handle_t*>(&patience), closed);
  }
};

SshChild::SshChild(EventLoop& loop, Events events)
    : loop_(loop),
      events_(std::move(events)),
      input_(std::make_unique<ByteStream>(loop, ByteStream::Kind::kPipe)),
      output_(std::make_unique<ByteStream>(loop, ByteStream::Kind::kPipe)),
      errors_(std::make_unique<ByteStream>(loop, ByteStream::Kind::kPipe)),
      process_(new Process) {
  process_->owner = this;
  process_->handle.data = process_->patience.data = process_;
  uv_timer_init(loop.uv(), &process_->patience);
}

SshChild::~SshChild() {
  process_->owner = nullptr;
  if (process_->started && !process_->exited) uv_process_kill(&process_->handle, SIGKILL);
  process_->close();
}

Result<std::unique_ptr<SshChild>> SshChild::start(EventLoop& loop,
                                                  const std::vector<std::string>& arguments,
                                                  bool alone, Events events) {
  std::unique_ptr<SshChild> child(new SshChild(loop, std::move(events)));
  if (const Status spawned = child->spawn(arguments, alone); !spawned.ok()) return spawned.error();
  return child;
}

Status SshChild::spawn(const std::vector<std::string>& arguments, bool alone) {
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  uv_stdio_container_t streams[3];
  const auto give = [](uv_stdio_container_t& to, ByteStream& stream, int flags) {
    to.flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | flags);
    to.data.stream = stream.uv();
  };
  give(streams[0], *input_, UV_READABLE_PIPE);
  give(streams[1], *output_, UV_WRITABLE_PIPE);
  give(streams[2], *errors_, UV_WRITABLE_PIPE);
  uv_process_options_t options{};
  options.file = pointers[0];
  options.args = pointers.data();
  options.stdio = streams;
  options.stdio_count = 3;
  options.flags = alone ? 0u : unsigned{UV_PROCESS_DETACHED};
  options.exit_cb = [](uv_process_t* handle, std::int64_t code, int signal) {
    auto* const process = static_cast<Process*>(handle->data);
    process->exited = true;
    if (process->owner) process->owner->exited(static_cast<int>(code), signal);
  };
  const int error = uv_spawn(loop_.uv(), &process_->handle, &options);
  if (error != 0) return error_from_errno("run " + arguments[0], -error);
  process_->started = true;
  input_->on_written(events_.written);
  const auto ended = [this] {
    --open_outputs_;
    look_for_end();
  };
  output_->read(events_.output, ended);
  errors_->read(events_.errors, ended);
  return Done{};
}

void SshChild::exited(int code, int signal) {
  process_->code = code;
  process_->signal = signal;
  const auto over = [](uv_timer_t* timer) {
    auto* const process = static_cast<Process*>(timer->data);
    if (!process->owner) return;
    process->owner->open_outputs_ = 0;
    process->owner->look_for_end();
  };
  output_->pause(false);
  uv_timer_start(&process_->patience, over, kOutputTimeMs, 0);
  look_for_end();
}

void SshChild::look_for_end() {
  if (!process_->exited || open_outputs_ > 0) return;
  uv_timer_stop(&process_->patience);
  events_.ended(process_->code, process_->signal);
}

void SshChild::end(bool at_once) {
  if (!at_once) input_->end_writing();
  if (!process_->exited) uv_process_kill(&process_->handle, at_once ? SIGKILL : SIGTERM);
}

}  // namespace firn::app
