// One request on a connection of libwebsockets, and the response to it.
#pragma once

#include <libwebsockets.h>

#include <optional>
#include <string>

#include "proto/web/http_server.h"

namespace firn::web {

// The server's thread.
class Exchange {
 public:
  Exchange(ExchangeId id, lws* connection) : id_(id), connection_(connection) {}

  ExchangeId id() const { return id_; }

  // Reads the headers. What refuses the request at once, before its body comes; nullopt: nothing.
  std::optional<Response> begin(HttpHandler& handler);
  bool awaits_body() const { return !refused_ && body_bytes_ > 0; }
  // False once its request was taken: libwebsockets tells the end of an empty body as well.
  bool has_request() const { return !taken_; }
  // Drops what was refused. False: more has come than was said, or than is worth dropping.
  bool take_body(std::string_view part);
  Request take_request() {
    taken_ = true;
    return std::move(request_);
  }

  // `refused`: the request is not read to its end, so that its connection closes.
  void answer(Response response, bool refused);
  bool answered() const { return answered_; }
  // Part of its answer has not been written yet; streams and bodies of sources are not waited for.
  bool owes() const {
    return answered_ && !ended_ && !waits_ && !response_.stream && !response_.source;
  }
  // Its delay is over.
  void release();
  // False: what came before has not left.
  bool push(std::string text);
  // Its source may have bytes again.
  void resume();
  // Closes the connection if its reader has left, or sends something, while no more of the body of
  // a source leaves.
  void tick();

  // The connection takes bytes. What libwebsockets is to be told: 0, or -1 to close it.
  int write();

 private:
  int write_head();
  int write_body();
  int write_from_source();
  std::uint64_t body_bytes() const {
    return response_.source_bytes > 0 ? response_.source_bytes : response_.body.size();
  }
  int end();
  std::string header(int token) const;

  const ExchangeId id_;
  lws* const connection_;
  Request request_;
  std::size_t body_bytes_ = 0;
  std::size_t dropped_ = 0;
  Response response_;
  std::uint64_t written_ = 0;
  std::uint64_t written_before_ = 0;  // at the last tick
  bool head_only_ = false;
  bool refused_ = false;
  bool taken_ = false;
  bool answered_ = false;
  bool waits_ = false;  // for its delay
  bool head_written_ = false;
  bool ended_ = false;
};

}  // namespace firn::web
