// Records that come a piece at a time, end in the middle or change their keys: reading rests
// between pieces (read_pace.h), and must neither lose what follows nor sleep through an end.
#include <doctest/doctest.h>
#include <openssl/bio.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

#include "tests/transport/stranger.h"

namespace firn::proto::transport::test {
namespace {

// A stranger whose records are kept back, to be sent by hand.
struct SlowStranger : Stranger {
  explicit SlowStranger(const Address& where) : Stranger(where) {
    present(Identity::generate().value());
    REQUIRE(is_accepted());
    kept = BIO_new(BIO_s_mem());
    SSL_set0_wbio(session.get(), kept);
  }
  // `body` as a frame in TLS records, not sent.
  std::string records_of(const Bytes& body) {
    const OutgoingFrame frame = frame_of(body);
    REQUIRE(SSL_write(session.get(), frame.head.data(), static_cast<int>(frame.head.size())) > 0);
    return take();
  }
  std::string take() {
    char* data = nullptr;
    const long bytes = BIO_get_mem_data(kept, &data);
    std::string records(data, static_cast<std::size_t>(bytes));
    REQUIRE(BIO_reset(kept) == 1);
    return records;
  }
  void push(std::string_view bytes) {
    REQUIRE(::send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  // Waits for the byte with which the server answers a frame.
  bool is_answered() {
    char answer[5];
    for (int got = 0; got < 5;) {
      const int now = uninterrupted([&] { return SSL_read(session.get(), answer + got, 5 - got); });
      if (now <= 0) return false;
      got += now;
    }
    return true;
  }

  BIO* kept = nullptr;  // of the session
};

// A server, a stranger whose first frame was answered, and the server's number for it.
struct Meeting {
  // With an interval the server's loop rests between its turns, and connections rest without
  // timers.
  explicit Meeting(std::chrono::milliseconds interval = {}) : server(options_with(interval)) {
    char rest[4];  // of the first answer, whose first byte is_accepted() has taken
    REQUIRE(uninterrupted([&] { return SSL_read(stranger.session.get(), rest, 4); }) == 4);
  }
  static Options options_with(std::chrono::milliseconds interval) {
    Options options;
    options.turn_interval = interval;
    return options;
  }

  Answering server;
  SlowStranger stranger{server.listen()};
  ConnectionId id = server.recorder.wait_first();
  std::mt19937_64 random{7};
};

constexpr std::chrono::milliseconds kIntervals[] = {std::chrono::milliseconds(0),
                                                    std::chrono::milliseconds(2)};

}  // namespace

TEST_CASE("records in pieces of any size arrive whole and in order") {
  for (const auto interval : kIntervals) {
    CAPTURE(interval.count());
    Meeting meeting(interval);
    std::vector<Bytes> sent{Bytes{'x'}};
    for (const std::size_t piece : {1, 4, 5, 6, 700, 1448, 5000, 16'384}) {
      CAPTURE(piece);
      sent.push_back(random_bytes(meeting.random, piece < 700 ? 300 : 40'000));
      const std::string records = meeting.stranger.records_of(sent.back());
      for (std::size_t at = 0; at < records.size(); at += piece)
        meeting.stranger.push(std::string_view(records).substr(at, piece));
      REQUIRE(meeting.stranger.is_answered());
    }
    CHECK(meeting.server.recorder.connection(meeting.id).frames == sent);
  }
}

TEST_CASE("half a record waits for the other half however long it takes") {
  for (const auto interval : kIntervals) {
    CAPTURE(interval.count());
    Meeting meeting(interval);
    const Bytes body = random_bytes(meeting.random, 16'000);
    const std::string record = meeting.stranger.records_of(body);
    meeting.stranger.push(std::string_view(record).substr(0, 8'000));
    // Another connection is served meanwhile: what rests is this one alone, and reading has rested
    // and given up resting long before the other has met, asked and been answered ten times.
    for (int i = 0; i < 10; ++i) {
      Stranger other(meeting.server.listen());
      other.present(Identity::generate().value());
      CHECK(other.is_accepted());
    }
    CHECK(meeting.server.recorder.connection(meeting.id).frames.size() == 1);
    meeting.stranger.push(std::string_view(record).substr(8'000));
    REQUIRE(meeting.stranger.is_answered());
    CHECK(meeting.server.recorder.connection(meeting.id).frames.back() == body);
  }
}

TEST_CASE("an end in the middle of a record is seen, as an end or as a reset") {
  for (const bool reset : {false, true}) {
    CAPTURE(reset);
    Meeting meeting(kIntervals[reset ? 0 : 1]);
    const std::string record = meeting.stranger.records_of(random_bytes(meeting.random, 16'000));
    meeting.stranger.push(std::string_view(record).substr(0, 8'000));
    if (reset) {
      const linger at_once{1, 0};
      ::setsockopt(meeting.stranger.socket.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    meeting.stranger.socket = Socket();
    CHECK(meeting.server.recorder.wait_closed(meeting.id));
    CHECK(meeting.server.recorder.ending(meeting.id).code != ErrorCode::kInternal);
    CHECK(meeting.server.recorder.connection(meeting.id).frames.size() == 1);
  }
}

TEST_CASE("keys may change between records and between pieces of one") {
  Meeting meeting;
  std::vector<Bytes> sent{Bytes{'x'}};
  for (int i = 0; i < 4; ++i) {
    sent.push_back(random_bytes(meeting.random, 16'000));
    std::string stream = meeting.stranger.records_of(sent.back());
    // Asked for in turn with and without a new key of the server's.
    REQUIRE(SSL_key_update(meeting.stranger.session.get(),
                           i % 2 == 0 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED));
    sent.push_back(random_bytes(meeting.random, 16'000));
    stream += meeting.stranger.records_of(sent.back());  // the message of the new key goes first
    for (std::size_t at = 0; at < stream.size(); at += 3'000)
      meeting.stranger.push(std::string_view(stream).substr(at, 3'000));
    REQUIRE(meeting.stranger.is_answered());
    REQUIRE(meeting.stranger.is_answered());
  }
  CHECK(meeting.server.recorder.connection(meeting.id).frames == sent);
}

// So many records that bring a new key each.
std::string key_changes(SlowStranger& stranger, int count) {
  std::string stream;
  for (int i = 0; i < count; ++i) {
    REQUIRE(SSL_key_update(stranger.session.get(), SSL_KEY_UPDATE_NOT_REQUESTED));
    REQUIRE(SSL_do_handshake(stranger.session.get()) == 1);
    stream += stranger.take();
  }
  return stream;
}

TEST_CASE("a connection on which only KeyUpdates come is closed") {
  Meeting meeting;
  const WithoutSigpipe guard;
  // As much as the server takes: it has to end the connection, whatever is still to come.
  const std::string changes = key_changes(meeting.stranger, 20'000);
  std::size_t sent = 0;
  while (sent < changes.size()) {
    const std::string_view rest = std::string_view(changes).substr(sent);
    const ssize_t put = uninterrupted([&] {
      return ::send(meeting.stranger.socket.fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
    });
    if (put <= 0) break;
    sent += static_cast<std::size_t>(put);
  }
  REQUIRE(meeting.server.recorder.wait_closed(meeting.id));
  const Error ending = meeting.server.recorder.ending(meeting.id);
  CHECK(ending.code == ErrorCode::kProtocol);
  CHECK(ending.detail == "TLS: messages of TLS come, and little data");
  Stranger other(meeting.server.listen());
  other.present(Identity::generate().value());
  CHECK(other.is_accepted());
}

TEST_CASE("changes of key among data are nothing to complain of, however many") {
  Meeting meeting;
  std::vector<Bytes> sent{Bytes{'x'}};
  for (int i = 0; i < 100; ++i) {
    std::string stream = key_changes(meeting.stranger, 1);
    for (int record = 0; record < 2; ++record) {
      sent.push_back(random_bytes(meeting.random, 40));
      stream += meeting.stranger.records_of(sent.back());
    }
    meeting.stranger.push(stream);
    REQUIRE(meeting.stranger.is_answered());
    REQUIRE(meeting.stranger.is_answered());
  }
  CHECK(meeting.server.recorder.connection(meeting.id).frames == sent);
}

TEST_CASE("a little data among many changes of the key does not help a stranger") {
  Meeting meeting;
  const WithoutSigpipe guard;
  std::string stream;
  for (int i = 0; i < 8; ++i)
    stream += key_changes(meeting.stranger, 20) + meeting.stranger.records_of(Bytes{'y'});
  meeting.stranger.push(stream);
  REQUIRE(meeting.server.recorder.wait_closed(meeting.id));
  CHECK(meeting.server.recorder.ending(meeting.id).code == ErrorCode::kProtocol);
}

TEST_CASE("a record whose second half is not what was sealed ends the connection") {
  Meeting meeting;
  std::string record = meeting.stranger.records_of(random_bytes(meeting.random, 16'000));
  record[12'000] = static_cast<char>(record[12'000] ^ 1);
  meeting.stranger.push(std::string_view(record).substr(0, 8'000));
  meeting.stranger.push(std::string_view(record).substr(8'000));
  CHECK(meeting.server.recorder.wait_closed(meeting.id));
  CHECK(meeting.server.recorder.connection(meeting.id).frames.size() == 1);
}

}  // namespace firn::proto::transport::test
