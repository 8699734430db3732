// What a tracker says to Redis, and makes of made-up answers.
#include "tracker/redis/conversation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "tests/tracker/tracker_fixture.h"
#include "tracker/redis/records.h"

namespace firn::tracker::test {
namespace {

using namespace std::chrono_literals;

constexpr Time kNow{1'000'000};

Reply text(std::string text) {
  Reply reply;
  reply.kind = Reply::Kind::kText;
  reply.text = std::move(text);
  return reply;
}
Reply number(std::int64_t value) {
  Reply reply;
  reply.kind = Reply::Kind::kInteger;
  reply.integer = value;
  return reply;
}
Reply failure(std::string words) {
  Reply reply = text(std::move(words));
  reply.kind = Reply::Kind::kError;
  return reply;
}
Reply list(std::vector<Reply> replies) {
  Reply reply;
  reply.kind = Reply::Kind::kList;
  reply.list = std::move(replies);
  return reply;
}
// `kept`: whether an entry up to the last that was read is there still.
Reply no_changes(std::int64_t looked = 0, std::int64_t kept = 1) {
  return list({number(kept), text("99000-0"), number(looked), number(0)});
}
Reply no_keys() {
  return list({text("0"), list({})});
}
Reply server_time() {
  return list({text("100"), text("5")});
}

PeerChange change(std::uint32_t swarm, std::uint32_t number, Time age = 0ms) {
  return {content(swarm), pack(peer(number)), false, kNow - age};
}

// A conversation past its first turn.
struct Begun {
  explicit Begun() : conversation(Keys("p:"), "own") {
    conversation.begin();
    REQUIRE(conversation.next(kNow, true).size() == 7);
    std::vector<Reply> replies{server_time()};
    for (char c = '0'; c < '4'; ++c) replies.push_back(text(std::string(40, c)));
    replies.push_back(text("1-1"));
    replies.push_back(number(1));
    REQUIRE(conversation.take(replies, kNow).ok());
  }
  // And past the second, in which Redis turns out to be empty.
  Begun& reconciled() {
    commands = conversation.next(kNow, true);
    REQUIRE(commands.size() == 2);
    REQUIRE(conversation.take({no_changes(), no_keys()}, kNow).ok());
    REQUIRE(conversation.reconciled());
    return *this;
  }
  ToRedis peers(std::vector<PeerChange> changes) const {
    ToRedis letters;
    letters.peers = std::move(changes);
    return letters;
  }
  Conversation conversation;
  std::vector<Command> commands;
};

TEST_CASE("a conversation begins with the server's time and the scripts") {
  Conversation conversation(Keys("p:"), "own");
  conversation.begin();
  CHECK(conversation.busy(false));
  const auto commands = conversation.next(kNow, true);
  CHECK(commands[0] == Command{"TIME"});
  for (std::size_t i = 1; i < 5; ++i) CHECK(commands[i][1] == "LOAD");
  CHECK(commands[5][0] == "XADD");  // whether it takes writes
  CHECK_FALSE(conversation.reconciled());
}

TEST_CASE("it reads what is new from a moment before it reads what is there") {
  Begun begun;
  const auto commands = begun.conversation.next(kNow, true);
  REQUIRE(commands.size() == 2);
  CHECK(commands[0] ==
        Command{"EVALSHA", std::string(40, '2'), "1", "p:changes", "99999-0", "100", "own"});
  CHECK(commands[1][0] == "SCAN");
  // Two contents; one has more peers than a page, and a manifest.
  const Keys keys("p:");
  REQUIRE(begun.conversation
              .take({no_changes(),
                     list({text("7"), list({text(keys.seen(content(1))),
                                            text(keys.seen(content(2))), text("p:other")})})},
                    kNow)
              .ok());
  CHECK(begun.conversation.rejected() == 1);
  const auto next = begun.conversation.next(kNow, true);
  REQUIRE(next.size() == 4);  // changes, two contents, the next keys
  CHECK(next[1][3] == keys.seen(content(1)));
  const auto page = [](std::uint32_t who, std::int64_t looked, bool manifest) {
    return list({number(manifest), number(looked), text(std::string(peer_id(who).raw())), number(5),
                 text(peer_record(pack(peer(who)))), text(std::string(peer_id(who + 1).raw())),
                 number(6), text("")});
  };
  REQUIRE(begun.conversation
              .take({no_changes(), page(10, 500, true), page(20, 2, false), no_keys()}, kNow)
              .ok());
  const FromRedis received = begun.conversation.received();
  REQUIRE(received.peers.size() == 4);
  CHECK(received.peers[0] == change(1, 10, 5ms));
  CHECK(received.peers[1].left);
  CHECK(received.peers[1].at == kNow - 6ms);
  CHECK(received.offered == std::vector{content(1)});
  CHECK_FALSE(begun.conversation.reconciled());
  const auto last = begun.conversation.next(kNow, true);
  REQUIRE(last.size() == 2);
  CHECK(last[1][3] == keys.seen(content(1)));
  CHECK(last[1][7] == "500");
  REQUIRE(begun.conversation.take({no_changes(), list({number(1), number(0)})}, kNow).ok());
  CHECK(begun.conversation.reconciled());
  CHECK(begun.conversation.received().offered.empty());  // said with the first page
  CHECK_FALSE(begun.conversation.busy(true));
}

TEST_CASE("others are told of what Redis took, and of nothing else") {
  Begun begun;
  begun.reconciled();
  PeerChange left = change(2, 9);
  left.left = true;
  begun.conversation.post(begun.peers({change(1, 1, 3s), change(1, 2), left}));
  CHECK(begun.conversation.busy(false));
  auto commands = begun.conversation.next(kNow, true);
  REQUIRE(commands.size() == 3);
  CHECK(commands[0] == Command{"EVALSHA", std::string(40, '0'), "2", Keys("p:").seen(content(1)),
                               Keys("p:").peers(content(1)), "150000",
                               std::string(peer_id(1).raw()), "3000", peer_record(pack(peer(1))),
                               std::string(peer_id(2).raw()), "0", peer_record(pack(peer(2)))});
  CHECK(commands[1].back().empty());
  REQUIRE(begun.conversation.take({list({number(2)}), list({}), no_changes()}, kNow).ok());
  commands = begun.conversation.next(kNow, true);
  REQUIRE(commands.size() == 3);
  const Command& told = commands[0];
  CHECK(told[0] == "XADD");
  CHECK(std::vector(told.begin() + 2, told.begin() + 5) ==
        std::vector<std::string>{"MAXLEN", "~", "5000"});  // older entries may go
  CHECK(told[7] == "own");
  CHECK(parse_changes(told[9], kNow).value() == std::vector{change(1, 2)});
  REQUIRE(begun.conversation.take({text("1-1"), number(1), no_changes()}, kNow).ok());
  CHECK_FALSE(begun.conversation.busy(true));
}

TEST_CASE("many peers go in several commands and turns, none of them large") {
  Begun begun;
  begun.reconciled();
  std::vector<PeerChange> all;
  for (std::uint32_t i = 0; i < 4500; ++i) all.push_back(change(i < 4000 ? 1 : i, i));
  begun.conversation.post(begun.peers(all));
  std::size_t said = 0;
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(begun.conversation.busy(false));
    const auto commands = begun.conversation.next(kNow, true);
    std::vector<Reply> replies;
    for (const Command& command : commands) {
      if (command[1] != std::string(40, '0')) {
        replies.push_back(no_changes());
        continue;
      }
      REQUIRE(command.size() <= 6 + 3 * 100);
      said += (command.size() - 6) / 3;
      replies.push_back(list({}));
    }
    REQUIRE(begun.conversation.take(replies, kNow).ok());
  }
  CHECK(said == all.size());
  CHECK_FALSE(begun.conversation.busy(false));
}

TEST_CASE("changes of others come with their ages, and offers") {
  Begun begun;
  begun.reconciled();
  std::string peers, offers;
  append_change(peers, change(1, 1, 500ms), kNow);
  append_id(offers, content(4));
  begun.conversation.next(kNow, true);
  REQUIRE(begun.conversation
              .take({list({number(1), text("99500-3"), number(3), number(1), number(40),
                           text(peers), text(offers), number(0), text("rubbish"), text("")})},
                    kNow)
              .ok());
  const FromRedis received = begun.conversation.received();
  CHECK(received.peers == std::vector{change(1, 1, 540ms)});
  CHECK(received.offered == std::vector{content(4)});
  CHECK(begun.conversation.rejected() == 2);
  CHECK(begun.conversation.next(kNow, true)[0][4] == "99500-3");
}

TEST_CASE("ages that are none are passed over") {
  Begun begun;
  begun.reconciled();
  std::string peers;
  append_change(peers, change(1, 1), kNow);
  for (const std::int64_t age : {std::int64_t{-1}, std::int64_t{1} << 40, INT64_MAX, INT64_MIN}) {
    begun.conversation.next(kNow, true);
    REQUIRE(begun.conversation
                .take({list({number(1), text("99500-3"), number(1), number(0), number(age),
                             text(peers), text("")})},
                      kNow)
                .ok());
  }
  CHECK(begun.conversation.received().peers.empty());
  CHECK(begun.conversation.rejected() == 4);
}

TEST_CASE("a tracker that has fallen behind reads everything again") {
  Begun begun;
  begun.reconciled();
  begun.conversation.next(kNow, true);
  SUBCASE("not while it keeps up") {
    REQUIRE(begun.conversation.take({no_changes(100)}, kNow).ok());
    CHECK(begun.conversation.reconciled());
    CHECK(begun.conversation.busy(true));
  }
  SUBCASE("nor where Redis has dropped the stream because no tracker wrote to it for long") {
    REQUIRE(begun.conversation.take({no_changes(99, 0)}, kNow).ok());
    CHECK(begun.conversation.reconciled());
  }
  SUBCASE("when entries may have gone before it read them") {
    REQUIRE(begun.conversation.take({no_changes(100, 0)}, kNow).ok());
    CHECK_FALSE(begun.conversation.reconciled());
    CHECK(begun.conversation.next(kNow, true).back()[0] == "SCAN");
  }
}

TEST_CASE("without room nothing is read, and it is still seen whether Redis answers") {
  Begun begun;
  CHECK_FALSE(begun.conversation.busy(false));
  CHECK(begun.conversation.next(kNow, false) == std::vector<Command>{{"TIME"}});
  CHECK(begun.conversation.take({server_time()}, kNow).ok());
}

using Fields = std::map<std::string, std::string>;

// The hash that a conversation writes of a manifest.
Fields written(const Manifest& whole) {
  Fields fields;
  Begun writer;
  writer.reconciled();
  ToRedis letters;
  letters.manifests.push_back({whole.id, "net", whole.file_bytes});
  writer.conversation.post(std::move(letters));
  bool offered = false;
  while (writer.conversation.busy(true)) {
    std::vector<Reply> replies;
    for (const Command& command : writer.conversation.next(kNow, true)) {
      if (command[0] == "HSET") {
        CHECK(fields.count("size") == 0);  // it comes last
        CHECK(command[3].size() <= kManifestShareBytes);
        fields[command[2]] = command[3];
      }
      if (command[0] == "XADD") offered = parse_ids(command.back()) == std::vector{whole.id};
      replies.push_back(command[0] == "EVALSHA" ? no_changes() : number(1));
    }
    REQUIRE(writer.conversation.take(replies, kNow).ok());
  }
  CHECK(offered);
  return fields;
}

// The manifests that the reader makes of it.
std::vector<SharedManifest> read(Conversation& reader, const ContentId& id, const Fields& fields) {
  ToRedis letters;
  letters.wanted = {id, content(5)};
  reader.post(std::move(letters));
  while (reader.busy(true)) {
    std::vector<Reply> replies;
    for (const Command& command : reader.next(kNow, true)) {
      const bool is_field = command[1] == std::string(40, '3');
      if (!is_field) {
        replies.push_back(no_changes());
      } else if (command[3] == Keys("p:").manifest(id) && fields.count(command[4]) > 0) {
        replies.push_back(text(fields.at(command[4])));
      } else {
        replies.emplace_back();  // nil
      }
    }
    REQUIRE(reader.take(replies, kNow).ok());
  }
  return reader.received().manifests;
}

TEST_CASE("a manifest is written part by part, its size last, and read likewise") {
  const Manifest whole = manifest(100'000);
  const Fields fields = written(whole);
  CHECK(fields.size() == 2 + (whole.file_bytes.size() - 1) / kManifestShareBytes + 1);
  Begun reader;
  reader.reconciled();
  const auto manifests = read(reader.conversation, whole.id, fields);
  REQUIRE(manifests.size() == 1);
  CHECK(manifests[0].bytes == whole.file_bytes);
  CHECK(manifests[0].prefix == "net");
  CHECK(reader.conversation.rejected() == 0);
}

TEST_CASE("a manifest with which something is wrong is not taken") {
  const Manifest whole = manifest(100'000);
  const Fields right = written(whole);
  Begun reader;
  reader.reconciled();
  std::uint64_t spoilt = 0;
  const auto is_refused = [&](const Fields& fields) {
    CHECK(read(reader.conversation, whole.id, fields).empty());
    CHECK(reader.conversation.rejected() == ++spoilt);
  };
  Fields fields = right;
  fields.erase("1");  // as while another tracker writes it anew
  CHECK(read(reader.conversation, whole.id, fields).empty());
  CHECK(reader.conversation.rejected() == 0);
  fields = right;
  fields["0"].pop_back();
  is_refused(fields);
  fields = right;
  fields["0"][100] ^= 1;
  is_refused(fields);
  fields = right;
  for (const std::string& size :
       {std::to_string(whole.file_bytes.size() - 1), std::string(), std::string("0"),
        std::string("-1"), std::string("1e3"), std::string("999999999999999")}) {
    fields["size"] = size;
    is_refused(fields);
  }
  CHECK(read(reader.conversation, whole.id, right).size() == 1);  // the reader goes on
}

TEST_CASE("manifests that are held are kept on, or named where Redis lacks them or their size") {
  Begun begun;
  begun.reconciled();
  ToRedis letters;
  letters.held = {content(1), content(2)};
  begun.conversation.post(std::move(letters));
  const auto commands = begun.conversation.next(kNow, true);
  REQUIRE(commands.size() == 5);
  CHECK(commands[0] == Command{"HSTRLEN", Keys("p:").manifest(content(1)), "size"});
  CHECK(commands[1][0] == "PEXPIRE");
  // The second was begun by a tracker that ended before it was there.
  REQUIRE(begun.conversation.take({number(5), number(1), number(0), number(1), no_changes()}, kNow)
              .ok());
  CHECK(begun.conversation.received().missing == std::vector{content(2)});
}

TEST_CASE("answers that make no sense end the connection, whatever they are") {
  const std::vector<Reply> odd{
      Reply{},
      number(5),
      text("x"),
      list({}),
      list({text("x"), text("y")}),
      list({number(1), number(2), number(3)}),
      list({number(100'000), text("no entry"), number(0), number(0)}),
      list({number(-1), text("99000-0"), number(0), number(0)}),
      list({number(100'000), text("99999999999999999999-0"), number(0), number(0)}),
      list({list({}), list({}), list({}), list({})})};
  for (std::size_t i = 0; i < odd.size(); ++i) {
    CAPTURE(i);
    Begun begun;
    begun.conversation.post(begun.peers({change(1, 1)}));
    REQUIRE(begun.conversation.next(kNow, true).size() == 3);
    CHECK_FALSE(begun.conversation.take({list({}), odd[i], no_keys()}, kNow).ok());
  }
  for (const Reply& put :
       {Reply{}, number(1), list({number(0)}), list({number(2)}), list({text("1")})}) {
    Begun begun;
    begun.conversation.post(begun.peers({change(1, 1)}));
    begun.conversation.next(kNow, true);
    CHECK_FALSE(begun.conversation.take({put, no_changes(), no_keys()}, kNow).ok());
  }
  for (const Reply& keys : {Reply{}, list({text("x"), list({})}), list({text("0")}), number(0)}) {
    Begun begun;
    begun.conversation.next(kNow, true);
    CHECK_FALSE(begun.conversation.take({no_changes(), keys}, kNow).ok());
  }
  Begun begun;
  begun.conversation.next(kNow, true);
  CHECK_FALSE(begun.conversation.take({no_changes()}, kNow).ok());
  Conversation conversation(Keys("p:"), "own");
  conversation.begin();
  conversation.next(kNow, true);
  CHECK_FALSE(
      conversation
          .take({server_time(), text("no name"), text(""), text(""), text(""), Reply{}, Reply{}},
                kNow)
          .ok());
}

TEST_CASE("what Redis refuses is told with what to do") {
  const auto told = [](const char* words) {
    Begun begun;
    begun.conversation.post(begun.peers({change(1, 1)}));
    begun.conversation.next(kNow, true);
    return begun.conversation.take({failure(words), no_changes(), no_keys()}, kNow)
        .error()
        .message();
  };
  CHECK(told("MOVED 1 127.0.0.1:7000").find("proxy") != std::string::npos);
  CHECK(told("OOM command not allowed").find("maxmemory") != std::string::npos);
  CHECK(told("NOPERM this user").find("docs/operations.md") != std::string::npos);
  CHECK(told("ERR \x1b[31m").find('\x1b') == std::string::npos);
  // A content's key that another program made concerns that content alone.
  Begun begun;
  begun.conversation.post(begun.peers({change(1, 1), change(2, 1)}));
  begun.conversation.next(kNow, true);
  CHECK(
      begun.conversation
          .take({failure("WRONGTYPE Operation"), list({number(1)}), no_changes(), no_keys()}, kNow)
          .ok());
  CHECK(begun.conversation.rejected() == 1);
}

TEST_CASE("with a new connection everything begins anew") {
  Begun begun;
  begun.conversation.post(begun.peers({change(1, 1)}));
  begun.conversation.next(kNow, true);
  begun.conversation.begin();
  const auto commands = begun.conversation.next(kNow, true);
  CHECK(commands[0] == Command{"TIME"});
  CHECK(begun.conversation.waiting() == 0);
}

}  // namespace
}  // namespace firn::tracker::test
