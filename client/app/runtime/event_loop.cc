#include "client/app/runtime/event_loop.h"

#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "proto/base/stage_times.h"
#include "proto/program/hangup.h"
#include "proto/transport/wakeup.h"

extern char** environ;

namespace firn::app {

struct EventLoop::Impl {
  uv_loop_t loop;
  proto::transport::Wakeup wakeup;
  uv_timer_t timer;
  uv_signal_t interrupt, terminate, hangup, user, child;
  std::set<int> children;  // of run_shell(), which libuv waits for
  uv_prepare_t before_waiting;
  uv_check_t after_waiting;
  Stage stage = Stage::kNone;  // outside of waiting
  std::function<void()> turn = [] {};
  std::function<void(int)> handler;
};

namespace {

struct Child {
  uv_process_t process;
  std::set<int>* children = nullptr;
  std::function<void(int)> done;
};

// Process 1 inherits what the commands of run_shell() leave running, and nobody else waits for the
// end of these. Stops at a child of our own: libuv waits for that one, and its end comes here
// again.
void bury_inherited(const std::set<int>& children) {
  siginfo_t ended{};
  while (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0) {
    if (children.contains(ended.si_pid) || ::waitpid(ended.si_pid, nullptr, WNOHANG) <= 0) return;
    ended = {};
  }
}

template <typename Handle>
uv_handle_t* as_handle(Handle* handle) {
  return reinterpret_cast<uv_handle_t*>(handle);
}

}  // namespace

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {
  FIRN_CHECK(uv_loop_init(&impl_->loop) == 0);
  FIRN_CHECK(impl_->wakeup.start(&impl_->loop, [impl = impl_.get()] { impl->turn(); }));
  FIRN_CHECK(uv_timer_init(&impl_->loop, &impl_->timer) == 0);
  FIRN_CHECK(uv_signal_init(&impl_->loop, &impl_->interrupt) == 0);
  FIRN_CHECK(uv_signal_init(&impl_->loop, &impl_->terminate) == 0);
  FIRN_CHECK(uv_signal_init(&impl_->loop, &impl_->hangup) == 0);
  FIRN_CHECK(uv_signal_init(&impl_->loop, &impl_->user) == 0);
  FIRN_CHECK(uv_signal_init(&impl_->loop, &impl_->child) == 0);
  FIRN_CHECK(uv_prepare_init(&impl_->loop, &impl_->before_waiting) == 0);
  FIRN_CHECK(uv_check_init(&impl_->loop, &impl_->after_waiting) == 0);
  impl_->after_waiting.data = impl_.get();
  impl_->timer.data = impl_.get();
  impl_->interrupt.data = impl_->terminate.data = impl_.get();
  impl_->hangup.data = impl_->user.data = impl_->child.data = impl_.get();
  if (::getpid() != 1) return;
  const auto bury = [](uv_signal_t* signal, int) {
    bury_inherited(static_cast<Impl*>(signal->data)->children);
  };
  FIRN_CHECK(uv_signal_start(&impl_->child, bury, SIGCHLD) == 0);
}

EventLoop::~EventLoop() {
  impl_->wakeup.stop();
  uv_walk(
      &impl_->loop,
      [](uv_handle_t* handle, void*) {
        if (uv_is_closing(handle)) return;
        if (handle->type != UV_PROCESS) return uv_close(handle, nullptr);
        // A child that outlives us is not waited for any more.
        uv_close(handle, [](uv_handle_t* closed) { delete static_cast<Child*>(closed->data); });
      },
      nullptr);
  uv_run(&impl_->loop, UV_RUN_DEFAULT);
  FIRN_CHECK(uv_loop_close(&impl_->loop) == 0);
}

core::TimeUs EventLoop::now() const {
  return static_cast<core::TimeUs>(uv_hrtime() / 1000);
}

void EventLoop::on_turn(std::function<void()> turn) {
  impl_->turn = std::move(turn);
}

void EventLoop::wake() {
  impl_->wakeup.signal();
}

void EventLoop::wake_at(core::TimeUs when) {
  if (when == core::kNever) {
    uv_timer_stop(&impl_->timer);
    return;
  }
  // At least a millisecond: a caller that names a past time again and again must not spin.
  const core::TimeUs wait = std::max<core::TimeUs>(when - now(), 1);
  uv_update_time(&impl_->loop);
  uv_timer_start(
      &impl_->timer, [](uv_timer_t* timer) { static_cast<Impl*>(timer->data)->turn(); },
      static_cast<std::uint64_t>((wait + 999) / 1000), 0);
}

void EventLoop::on_signal(std::function<void(int)> handler) {
  impl_->handler = std::move(handler);
  const auto call = [](uv_signal_t* signal, int number) {
    static_cast<Impl*>(signal->data)->handler(number);
  };
  FIRN_CHECK(uv_signal_start(&impl_->interrupt, call, SIGINT) == 0);
  FIRN_CHECK(uv_signal_start(&impl_->terminate, call, SIGTERM) == 0);
  FIRN_CHECK(uv_signal_start(&impl_->user, call, SIGUSR1) == 0);
  if (hangup() == Hangup::kIgnored) return;
  FIRN_CHECK(uv_signal_start(&impl_->hangup, call, SIGHUP) == 0);
  release_hangup();
}

Status EventLoop::run_shell(const std::string& command,
                            const std::vector<std::pair<std::string, std::string>>& environment,
                            std::function<void(int)> done) {
  std::vector<std::string> additions;
  std::vector<char*> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.push_back(*entry);
  additions.reserve(environment.size());
  for (const auto& [name, value] : environment) {
    additions.push_back(name + "=" + value);
    variables.push_back(additions.back().data());
  }
  variables.push_back(nullptr);

  std::string shell = "/bin/sh", flag = "-c", text = command;
  char* arguments[] = {shell.data(), flag.data(), text.data(), nullptr};
  uv_stdio_container_t streams[3];
  streams[0].flags = UV_IGNORE;
  streams[1].flags = streams[2].flags = UV_INHERIT_FD;
  streams[1].data.fd = streams[2].data.fd = 2;

  auto child = std::make_unique<Child>();
  child->done = std::move(done);
  child->process.data = child.get();
  child->children = &impl_->children;
  uv_process_options_t options{};
  options.file = shell.c_str();
  options.args = arguments;
  options.env = variables.data();
  options.stdio = streams;
  options.stdio_count = 3;
  options.exit_cb = [](uv_process_t* process, std::int64_t status, int signal) {
    auto* ended = static_cast<Child*>(process->data);
    ended->children->erase(process->pid);
    if (::getpid() == 1) bury_inherited(*ended->children);
    uv_close(as_handle(process),
             [](uv_handle_t* handle) { delete static_cast<Child*>(handle->data); });
    ended->done(signal != 0 ? 128 + signal : static_cast<int>(status));
  };
  Child* const started = child.release();  // freed when its handle is closed, even after an error
  const int error = uv_spawn(&impl_->loop, &started->process, &options);
  if (error != 0) {
    uv_close(as_handle(&started->process),
             [](uv_handle_t* handle) { delete static_cast<Child*>(handle->data); });
    return Error{ErrorCode::kIo, "run '" + command + "'", uv_strerror(error)};
  }
  impl_->children.insert(started->process.pid);
  return Done{};
}

uv_loop_s* EventLoop::uv() {
  return &impl_->loop;
}

// What libuv calls while it waits enters stages of its own.
void EventLoop::run() {
  impl_->stage = current_stage();
  uv_prepare_start(&impl_->before_waiting, [](uv_prepare_t*) { enter_stage(Stage::kWaits); });
  uv_check_start(&impl_->after_waiting, [](uv_check_t* handle) {
    return_to_stage(static_cast<Impl*>(handle->data)->stage);
  });
  uv_run(&impl_->loop, UV_RUN_DEFAULT);
  uv_prepare_stop(&impl_->before_waiting);
  uv_check_stop(&impl_->after_waiting);
  return_to_stage(impl_->stage);
}
void EventLoop::stop() {
  uv_stop(&impl_->loop);
}

}  // namespace firn::app
