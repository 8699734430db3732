#include "tracker/redis/connection.h"

#include <hiredis/hiredis.h>

#include <cerrno>
#include <cstring>

#include "proto/base/limits.h"
#include "proto/base/plain_text.h"
#include "proto/transport/name_question.h"
#include "tracker/redis/tls.h"

namespace firn::tracker {
namespace {

constexpr const char* kOperation = "reach Redis";

timeval timeval_of(std::chrono::milliseconds time) {
  return {time.count() / 1000, time.count() % 1000 * 1000};
}

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};

Reply converted(const redisReply& from) {
  Reply reply;
  switch (from.type) {
    case REDIS_REPLY_INTEGER:
      reply.kind = Reply::Kind::kInteger;
      reply.integer = from.integer;
      break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      reply.kind = Reply::Kind::kText;
      reply.text.assign(from.str, from.len);
      break;
    case REDIS_REPLY_ERROR:
      reply.kind = Reply::Kind::kError;
      reply.text.assign(from.str, from.len);
      break;
    case REDIS_REPLY_ARRAY:
      reply.kind = Reply::Kind::kList;
      reply.list.reserve(from.elements);
      for (std::size_t i = 0; i < from.elements; ++i)
        reply.list.push_back(converted(*from.element[i]));
      break;
    default:
      break;  // nil
  }
  return reply;
}

// hiredis waits for a name server without end. Errors: kUnreachable.
Result<std::vector<std::string>> numeric_hosts(const RedisAddress& address,
                                               std::chrono::milliseconds within) {
  using namespace proto::transport;
  if (address.host.empty() || numeric_address(address.host, address.port))
    return address.host.empty() ? std::vector<std::string>() : std::vector{address.host};
  const auto found = look_up(address.host, address.port, within);
  if (!found) return Error{ErrorCode::kUnreachable, kOperation, found.error().detail};
  std::vector<std::string> hosts;
  for (const SocketAddress& one : *found) hosts.push_back(one.ip());
  return hosts;
}

// The last of them where none takes the connection.
redisContext* connect_to_one(const std::vector<std::string>& hosts, std::uint16_t port,
                             const timeval& timeout) {
  redisContext* context = nullptr;
  for (const std::string& host : hosts) {
    if (context != nullptr) redisFree(context);
    context = redisConnectWithTimeout(host.c_str(), port, timeout);
    if (context == nullptr || context->err == 0) break;
  }
  return context;
}

// What a person can do.
std::string advice_on_refusal(const std::string& text) {
  if (text.starts_with("WRONGPASS") || text.starts_with("NOAUTH") || text.starts_with("ERR AUTH") ||
      text.starts_with("ERR invalid password"))
    return "; see --redis-password-file";
  return "";
}

class HiredisConnection final : public RedisConnection {
 public:
  explicit HiredisConnection(redisContext* context) : context_(context) {}
  ~HiredisConnection() override { redisFree(context_); }
  HiredisConnection(const HiredisConnection&) = delete;

  // What is to be said before anything else.
  Status introduce(const RedisAddress& address);
  Result<std::vector<Reply>> exchange(const std::vector<Command>& commands) override;
  Error failure() const;

 private:
  redisContext* const context_;
};

Status HiredisConnection::introduce(const RedisAddress& address) {
  std::vector<Command> commands;
  if (!address.user.empty()) {
    commands.push_back({"AUTH", address.user, address.password});
  } else if (!address.password.empty()) {
    commands.push_back({"AUTH", address.password});
  }
  if (address.database != 0) commands.push_back({"SELECT", std::to_string(address.database)});
  commands.push_back({"PING"});
  const auto replies = exchange(commands);
  if (!replies) return replies.error();
  for (const Reply& reply : *replies) {
    if (reply.kind != Reply::Kind::kError) continue;
    return Error{
        ErrorCode::kProtocol, "use Redis",
        to_plain_text(reply.text, limits::kReasonBytesMax) + advice_on_refusal(reply.text)};
  }
  return Done{};
}

Error HiredisConnection::failure() const {
  const int number = errno;
  if (context_->err == REDIS_ERR_IO && (number == EAGAIN || number == EWOULDBLOCK))
    return {ErrorCode::kUnreachable, kOperation, "it does not answer in time"};
  return {ErrorCode::kUnreachable, kOperation,
          to_plain_text(context_->errstr, limits::kReasonBytesMax)};
}

Result<std::vector<Reply>> HiredisConnection::exchange(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    std::vector<const char*> words;
    std::vector<std::size_t> sizes;
    for (const std::string& word : command) {
      words.push_back(word.data());
      sizes.push_back(word.size());
    }
    if (redisAppendCommandArgv(context_, static_cast<int>(words.size()), words.data(),
                               sizes.data()) != REDIS_OK)
      return failure();
  }
  std::vector<Reply> replies;
  replies.reserve(commands.size());
  while (replies.size() < commands.size()) {
    void* next = nullptr;
    errno = 0;
    if (redisGetReply(context_, &next) != REDIS_OK || next == nullptr) return failure();
    const std::unique_ptr<redisReply, FreeReply> reply(static_cast<redisReply*>(next));
    replies.push_back(converted(*reply));
  }
  return replies;
}

}  // namespace

Status check_redis_options(const RedisOptions& options) {
  if (!options.address.tls) return Done{};
  return check_tls(options.ca_file);
}

Result<std::unique_ptr<RedisConnection>> open_redis(const RedisOptions& options) {
  const RedisAddress& address = options.address;
  const timeval timeout = timeval_of(options.timeout);
  const auto hosts = numeric_hosts(address, options.timeout);
  if (!hosts) return hosts.error();
  redisContext* const context = hosts->empty()
                                    ? redisConnectUnixWithTimeout(address.path.c_str(), timeout)
                                    : connect_to_one(*hosts, address.port, timeout);
  if (context == nullptr) return Error{ErrorCode::kInternal, kOperation, "no memory"};
  auto connection = std::make_unique<HiredisConnection>(context);
  if (context->err != 0) return connection->failure();
  if (redisSetTimeout(context, timeout) != REDIS_OK) return connection->failure();
  if (address.tls) {
    if (Status secured = begin_tls(context, address.host, options.ca_file); !secured)
      return secured.error();
  }
  if (Status known = connection->introduce(address); !known) return known.error();
  return std::unique_ptr<RedisConnection>(std::move(connection));
}

}  // namespace firn::tracker
