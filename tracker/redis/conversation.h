// What a tracker says to Redis and makes of the answers: no I/O, no clock, no threads.
//
// The link asks for the next commands, sends them in one go, and hands over their replies; each
// such turn writes some of what waits and reads some of what is new. First come the scripts
// (commands.h). Then everything that Redis holds is read once, key by key, and beside it, from a
// moment before the first of these on, what other trackers write: so nothing that happens meanwhile
// is missed. A connection that breaks is begun anew, and what was under way is forgotten: the
// registries say all that they know once more (registry_redis.h).
//
// Redis takes what is later than what it knows; of that the other trackers are told. A reader keeps
// what is later than what it knows, so order and repetition do not matter.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tracker/redis/commands.h"
#include "tracker/redis/letters.h"

namespace firn::tracker {

class Conversation {
 public:
  // `own`: names this process among the trackers, 32 bytes at most.
  Conversation(const Keys& keys, std::string own) : keys_(keys), own_(std::move(own)) {}

  // A connection is new.
  void begin();
  // How long Redis keeps a peer that does not announce itself again.
  void keep_for(Time ttl) { ttl_ = ttl; }
  void post(ToRedis letters);
  // `room`: whether more can be received.
  std::vector<Command> next(Time now, bool room);
  // The replies to these, in their order; `now` when they had come. Errors: kProtocol (Redis
  // refused, or no such commands were asked); the connection is of no more use.
  Status take(const std::vector<Reply>& replies, Time now);
  // What has come since the last call.
  FromRedis received();

  // There is more to say than the last commands, or, with room, to read.
  bool busy(bool room) const;
  // What stood in Redis when the connection was new has been read.
  bool reconciled() const { return !scanning_ && unread_.empty() && !scripts_[0].empty(); }
  std::size_t waiting() const { return peers_.size(); }
  // What was read and was nothing that trackers write.
  std::uint64_t rejected() const { return rejected_; }

 private:
  enum Script { kPut, kRead, kChanges, kField, kScripts };
  enum class Asked {
    kTime,
    kScript,
    kPut,
    kRead,
    kChanges,
    kScan,
    kHeld,
    kSize,
    kPrefix,
    kPart,
    kDone
  };
  struct Question {
    Asked what = Asked::kDone;
    ContentId content = {};
    std::size_t number = 0;                // of a script, the offset of a page
    std::vector<PeerChange> changes = {};  // that were put
  };
  struct Unread {
    ContentId content;
    std::size_t offset = 0;
  };
  struct Found {
    ContentId content;
    std::uint64_t bytes = 0;
  };

  void ask(Question question, Command command);
  Command call(Script script, std::vector<std::string> keys, std::vector<std::string> more) const;
  void say_peers(Time now);
  void tell_others(Time now);
  void say_manifests();
  void ask_manifests();
  void read_new();
  void read_all();

  Status take_one(const Question& question, const Reply& reply, Time now);
  bool take_put(const Question& question, const Reply& reply);
  bool take_page(const Question& question, const Reply& reply, Time now);
  bool take_changes(const Reply& reply, Time now);
  bool take_keys(const Reply& reply);
  void take_size(const Question& question, const Reply& reply);
  void take_part(const Reply& reply);

  const Keys keys_;
  const std::string own_;
  Time ttl_{std::chrono::seconds(150)};
  std::vector<Command> commands_;
  std::vector<Question> asked_;
  std::array<std::string, kScripts> scripts_;  // as Redis names them; empty before they are there
  // To be written.
  std::deque<PeerChange> peers_;
  std::vector<PeerChange> taken_;  // that others are to be told of
  std::vector<ContentId> offers_;
  std::deque<SharedManifest> manifests_;
  std::size_t parts_said_ = 0;  // of the first
  std::deque<ContentId> held_, wanted_;
  // To be read.
  std::deque<Found> found_;  // manifests
  SharedManifest fetched_;   // the parts of the first that have come
  std::string position_;     // in the stream
  bool more_changes_ = false;
  bool scanning_ = false;
  std::string cursor_ = "0";
  std::deque<Unread> unread_;
  FromRedis received_;
  std::uint64_t rejected_ = 0;
};

}  // namespace firn::tracker
