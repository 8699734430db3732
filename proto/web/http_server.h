// A small HTTP/1.1 server on a thread of its own, by libwebsockets.
//
//   its thread: accept -> read (bounds) -> HttpHandler::request ... reply() -> write
//
// A thread of its own, pages' of low priority, so that a flood of requests takes what transfers
// leave; and the loop that libwebsockets brings, as the one for libuv is a plug-in which programs
// cannot count on. Other threads reach the handler by post().
//
// Bounds: ServerOptions::connections_max connections, one more is closed at once; kHeaderBytesMax
// of headers; a request has kRequestSeconds to come, and a response as long for each 16 KiB of it.
// A response from a BodySource may take for ever, as players rest: then little of it is held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "proto/base/address.h"
#include "proto/base/result.h"
#include "proto/web/http_message.h"

namespace firn::web {

// One request and its response.
using ExchangeId = std::uint64_t;

// Called on the server's thread.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // POST is refused, whatever it brings.
  virtual bool get_only() const { return false; }
  // How long a body may be that this request (without it) brings; a longer one is refused unread.
  virtual std::size_t body_bytes_max(const Request& head) = 0;
  // To be answered with one reply(), at once or later.
  virtual void request(ExchangeId id, Request request) = 0;
  // The exchange is over: its response has left, or the connection has ended.
  virtual void over(ExchangeId id) = 0;
  // About every HttpServer::kTickInterval.
  virtual void tick() = 0;
};

struct ServerOptions {
  Address listen;  // the host is numeric, "localhost", or "" and "*" for all addresses
  std::size_t connections_max = 256;
  int niceness = 19;  // of its thread; 0: as the process
};

class HttpServer {
 public:
  static constexpr std::size_t kHeaderBytesMax = 8 << 10;
  static constexpr int kRequestSeconds = 15;
  static constexpr std::chrono::milliseconds kTickInterval{1000};

  // Listens. Errors: kBadInput (the host is a name), kExists (the port is in use), others as errno
  // says.
  static Result<std::unique_ptr<HttpServer>> open(const ServerOptions& options);
  // Ends the thread; the handler is not called any more.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Where it listens: a numeric host, empty for all addresses.
  const Address& listening() const;
  // For a browser of this machine. Numeric: at another address of `localhost` another user may
  // listen, and would get the token.
  std::string url() const;
  // Whether programs of other machines can reach it.
  bool for_others() const;
  // Starts the thread; once. `handler` outlives this object. Errors: kBusy (no thread).
  Status run(HttpHandler& handler);

  // Any thread: `task` runs on the server's thread, unless the server ends before.
  void post(std::function<void()> task);

  // --- the server's thread ---
  // Ignored where the exchange is over.
  void reply(ExchangeId id, Response response);
  // Text for a stream. False: the text before has not left yet, and this one is not taken.
  bool push(ExchangeId id, std::string text);
  // The source of a response may have bytes again.
  void resume(ExchangeId id);

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace firn::web
