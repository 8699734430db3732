#include "proto/transport/name_question.h"

#include <netdb.h>
#include <sys/socket.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "proto/base/start_thread.h"
#include "proto/base/thread_times.h"

namespace firn::proto::transport {
namespace {

// Questions that are asked at a time; others wait. Names whose server does not answer hold up the
// others only where there are as many of them.
constexpr std::size_t kThreadsMax = 32;

Error does_not_resolve(const std::string& host, const std::string& why) {
  return {ErrorCode::kUnreachable, "look up " + host,
          "the name does not resolve (" + why + "); check its spelling, and the network"};
}

Result<Addresses> ask_system(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (status != 0) return does_not_resolve(host, ::gai_strerror(status));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  Addresses addresses;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next)
    addresses.push_back(SocketAddress::from(one->ai_addr, one->ai_addrlen));
  return addresses;
}

}  // namespace

struct NameQuestion::Shared {
  const std::string host;
  const std::uint16_t port;
  std::mutex mutex;
  Answer answer;  // null: given up, or answered
};

// The threads that ask, and what waits for one. Of the process.
class Resolver {
 public:
  using Question = std::shared_ptr<NameQuestion::Shared>;

  // Never destroyed: its threads may outlive all else.
  static Resolver& of_process() {
    static Resolver* const one = new Resolver;
    return *one;
  }

  void ask(Question question) {
    std::unique_lock lock(mutex_);
    waiting_.push_back(question);
    if (threads_ == kThreadsMax) return;
    Result<std::thread> thread = start_thread("looking up names", [this] { run(); });
    if (thread) {
      ++threads_;
      thread->detach();
    } else if (threads_ == 0) {  // else those that run come to it
      waiting_.pop_back();
      lock.unlock();
      answer(*question, thread.error());
    }
  }

  bool idle() {
    const std::lock_guard lock(mutex_);
    return threads_ == 0;
  }

 private:
  void run() {
    name_this_thread("firn-names");
    std::unique_lock lock(mutex_);
    while (!waiting_.empty()) {
      const Question question = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      if (wanted(*question)) answer(*question, ask_system(question->host, question->port));
      lock.lock();
    }
    --threads_;
  }

  static bool wanted(NameQuestion::Shared& question) {
    const std::lock_guard lock(question.mutex);
    return question.answer != nullptr;
  }

  static void answer(NameQuestion::Shared& question, Result<Addresses> addresses) {
    const std::lock_guard lock(question.mutex);
    if (question.answer) std::exchange(question.answer, nullptr)(std::move(addresses));
  }

  std::mutex mutex_;
  std::size_t threads_ = 0;
  std::deque<Question> waiting_;
};

NameQuestion::NameQuestion(std::string host, std::uint16_t port, Answer answer)
    : shared_(new Shared{std::move(host), port, {}, std::move(answer)}) {
  Resolver::of_process().ask(shared_);
}

NameQuestion::~NameQuestion() {
  const std::lock_guard lock(shared_->mutex);
  shared_->answer = nullptr;
}

Result<Addresses> look_up(const std::string& host, std::uint16_t port,
                          std::chrono::milliseconds within) {
  std::mutex mutex;
  std::condition_variable come;
  std::optional<Result<Addresses>> answer;
  const NameQuestion question(host, port, [&](Result<Addresses> addresses) {
    const std::lock_guard lock(mutex);
    answer = std::move(addresses);
    come.notify_all();
  });
  std::unique_lock lock(mutex);
  if (come.wait_for(lock, within, [&] { return answer.has_value(); })) return *std::move(answer);
  return does_not_resolve(
      host, "no name server answers within " + std::to_string(within.count()) + " ms");
}

int end_process(int code) {
  if (Resolver::of_process().idle()) return code;
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace firn::proto::transport
