// What other programs may have written to the Redis that trackers share: records, addresses, and
// whatever is answered to a conversation.
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/result.h"
#include "tests/fuzz/fuzz_target.h"
#include "tracker/redis/conversation.h"
#include "tracker/redis/records.h"
#include "tracker/redis/redis_address.h"

namespace firn::fuzz::redis {
namespace {

using namespace firn::tracker;

constexpr Time kNow{1'000'000};

// What is taken comes out again as it was.
void records(std::string_view bytes) {
  if (const auto changes = parse_changes(bytes, kNow)) {
    std::string again;
    for (const PeerChange& change : *changes) append_change(again, change, kNow);
    FIRN_CHECK(again == bytes);
  }
  if (const auto peer = parse_peer_record({}, bytes)) FIRN_CHECK(peer_record(*peer) == bytes);
  if (const auto ids = parse_ids(bytes)) FIRN_CHECK(ids->size() * firn::kIdBytes == bytes.size());
}

void address(std::string_view bytes) {
  const auto read = parse_redis_address(bytes);
  if (read) FIRN_CHECK(!to_text(*read).empty());
}

// Replies made of bytes: a kind, then its length or value, then what it holds.
class Replies {
 public:
  explicit Replies(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }
  Reply next(int depth = 0) {
    Reply reply;
    const std::uint8_t kind = byte() % 6;
    switch (kind) {
      case 0:
        break;
      case 1:
        reply.kind = Reply::Kind::kInteger;
        for (int i = 0; i < 8; ++i)
          reply.integer =
              static_cast<std::int64_t>(static_cast<std::uint64_t>(reply.integer) << 8 | byte());
        break;
      case 2:
        reply.kind = Reply::Kind::kInteger;
        reply.integer = byte();
        break;
      case 3:
        reply.kind = Reply::Kind::kList;
        for (std::size_t left = depth < 3 ? byte() % 16 : 0; left > 0; --left)
          reply.list.push_back(next(depth + 1));
        break;
      default:
        reply.kind = kind == 4 ? Reply::Kind::kText : Reply::Kind::kError;
        reply.text = text(byte());
    }
    return reply;
  }

 private:
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const char first = bytes_.front();
    bytes_.remove_prefix(1);
    return static_cast<std::uint8_t>(first);
  }
  std::string text(std::size_t size) {
    const std::string_view some = bytes_.substr(0, size);
    bytes_.remove_prefix(some.size());
    return std::string(some);
  }
  std::string_view bytes_;
};

// However odd the answers, each is taken or refused, and what is taken has bounds.
void conversation(std::string_view bytes) {
  Replies replies(bytes);
  Conversation conversation(Keys("p:"), "own");
  conversation.begin();
  conversation.next(kNow, true);
  Reply time;
  time.kind = Reply::Kind::kList;
  time.list.resize(2);
  for (Reply& one : time.list) {
    one.kind = Reply::Kind::kText;
    one.text = "100";
  }
  std::vector<Reply> first{time};
  for (int script = 0; script < 4; ++script) {
    first.emplace_back().kind = Reply::Kind::kText;
    first.back().text.assign(40, 'a');
  }
  first.resize(first.size() + 2);  // and takes writes
  FIRN_CHECK(conversation.take(first, kNow).ok());
  ToRedis letters;
  letters.peers.resize(3);
  letters.wanted.resize(2);
  letters.held.resize(2);
  letters.manifests.resize(1);
  conversation.post(std::move(letters));
  for (int turn = 0; turn < 20 && !replies.at_end(); ++turn) {
    std::vector<Reply> answers;
    for (std::size_t i = conversation.next(kNow, true).size(); i > 0; --i)
      answers.push_back(replies.next());
    if (!conversation.take(answers, kNow).ok()) return;
    FIRN_CHECK(conversation.received().manifests.empty());  // none that small is right
  }
}

}  // namespace

FIRN_FUZZ_TARGET(redis) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      records(bytes);
      break;
    case 1:
      address(bytes);
      break;
    default:
      conversation(bytes);
  }
  return 0;
}

}  // namespace firn::fuzz::redis
