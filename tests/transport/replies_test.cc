// A sink that answers on the thread that reads.
#include "proto/transport/replies.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "tests/transport/recorder.h"

namespace firn::proto::transport::test {
namespace {

// Answers each frame with one of `reply_bytes` that begins with the same byte; later, where it is
// told to.
class Answerer final : public EventSink {
 public:
  Answerer(std::size_t reply_bytes, bool later) : reply_bytes_(reply_bytes), later_(later) {}
  ~Answerer() override { transport_.reset(); }

  Address start(int io_threads) {
    Options options;
    options.io_threads = io_threads;
    transport_ = Transport::start(identity_, *this, options).value();
    return transport_->listen(Address{{}, "127.0.0.1", 0}).value();
  }
  std::size_t asked() const { return asked_; }

  void on_open(ConnectionId, const PeerInfo&) override {}
  Status on_frame(ConnectionId, std::span<const std::uint8_t>) override { return Done{}; }
  Status on_request(ConnectionId id, std::span<const std::uint8_t> frame,
                    Replies& replies) override {
    ++asked_;
    const std::string answer = frame_of(Bytes(reply_bytes_, frame[0])).head;
    if (later_) {
      const std::lock_guard lock(mutex_);
      owed_.push_back({id, answer});
      replies.come_later();
      transport_->wake(transport_->thread_of(id));
    } else {
      std::memcpy(replies.prepare(answer.size()), answer.data(), answer.size());
      replies.commit(answer.size());
    }
    return Done{};
  }
  void on_woken(std::size_t thread) override {
    const std::lock_guard lock(mutex_);
    std::erase_if(owed_, [&](const auto& owed) {
      if (transport_->thread_of(owed.first) != thread) return false;
      transport_->answer(owed.first, {reinterpret_cast<const std::uint8_t*>(owed.second.data()),
                                      owed.second.size()});
      return true;
    });
  }
  void on_departed(ConnectionId, FrameTag) override {}
  void on_close(ConnectionId, const Error&) override {}

 private:
  const std::size_t reply_bytes_;
  const bool later_;
  std::atomic<std::size_t> asked_{0};
  std::mutex mutex_;
  std::vector<std::pair<ConnectionId, std::string>> owed_;
  Identity identity_ = Identity::generate().value();
  std::unique_ptr<Transport> transport_;
};

void ask(Node& node, ConnectionId connection, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i)
    node.transport->send(connection, frame_of(Bytes(40, static_cast<std::uint8_t>(i))));
}

void check_answers(Node& node, ConnectionId connection, std::size_t count, std::size_t bytes) {
  REQUIRE(node.recorder.wait_frames(connection, count));
  const auto frames = node.recorder.connection(connection).frames;
  REQUIRE(frames.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE(frames[i].size() == bytes);
    REQUIRE(frames[i][0] == static_cast<std::uint8_t>(i));
  }
}

TEST_CASE("requests sent at once are answered in order, at once or later, small and large") {
  for (const bool later : {false, true}) {
    for (const std::size_t bytes : {1u, 2000u, 40'000u}) {
      Answerer answerer(bytes, later);
      const Address where = answerer.start(2);
      Node one, two;
      const ConnectionId first = one.transport->connect(where);
      const ConnectionId second = two.transport->connect(where);
      REQUIRE(one.recorder.wait_open(first));
      REQUIRE(two.recorder.wait_open(second));
      ask(one, first, 0, 100);
      ask(two, second, 0, 100);
      check_answers(one, first, 100, bytes);
      check_answers(two, second, 100, bytes);
    }
  }
}

TEST_CASE("a connection whose answers are not taken is not read on, and others are") {
  constexpr std::size_t kRequests = 3000, kBytes = 32'000;  // far more than kernels hold
  Answerer answerer(kBytes, false);
  const Address where = answerer.start(1);
  Node greedy, other;
  const ConnectionId paused = greedy.transport->connect(where);
  const ConnectionId served = other.transport->connect(where);
  REQUIRE(greedy.recorder.wait_open(paused));
  REQUIRE(other.recorder.wait_open(served));
  greedy.transport->pause_reading(paused, true);
  ask(greedy, paused, 0, kRequests);
  for (std::size_t i = 0; i < 50; ++i) {
    ask(other, served, i, i + 1);
    check_answers(other, served, i + 1, kBytes);
  }
  CHECK(answerer.asked() < kRequests);
  greedy.transport->pause_reading(paused, false);
  check_answers(greedy, paused, kRequests, kBytes);
}

TEST_CASE("an answer to a connection that has gone is dropped") {
  Answerer answerer(100, true);
  const Address where = answerer.start(1);
  for (int round = 0; round < 10; ++round) {
    Node node;
    const ConnectionId connection = node.transport->connect(where);
    REQUIRE(node.recorder.wait_open(connection));
    ask(node, connection, 0, 1);
  }
  Node last;
  const ConnectionId connection = last.transport->connect(where);
  REQUIRE(last.recorder.wait_open(connection));
  ask(last, connection, 0, 1);
  check_answers(last, connection, 1, 100);
}

}  // namespace
}  // namespace firn::proto::transport::test
