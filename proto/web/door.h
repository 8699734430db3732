// The door before a program's pages: judges each request, signs browsers in, and lets pass what
// may.
//
//   GET  /page.css /page.js   for everybody
//   POST /login               a token gets a cookie
//   POST /logout              takes it back
//   all else                  to the pages, if the request may (access.h), or needs no token there
#pragma once

#include <functional>
#include <string>

#include "proto/web/access.h"
#include "proto/web/http_server.h"

namespace firn::web {

// What a program shows. Called on the server's thread, with requests that may pass alone.
class Pages {
 public:
  virtual ~Pages() = default;
  virtual std::size_t body_bytes_max(const Request& head) = 0;
  // Whether it is answered without a token: what tells nothing, for programs that look whether this
  // one lives.
  virtual bool open_to_all(const Request&) const { return false; }
  // Whether it is answered to who has shown the second token (access.h).
  virtual bool open_to_readers(const Request&) const { return false; }
  virtual void request(ExchangeId id, Request request) = 0;
  virtual void over(ExchangeId id) = 0;
  virtual void tick() = 0;
};

class Door final : public HttpHandler {
 public:
  static constexpr std::chrono::milliseconds kWrongTokenDelay{1000};

  // `warn` hears of the first wrong token, on the server's thread. All outlive this object.
  Door(std::string program, Access access, HttpServer& server, Pages& pages,
       std::function<void(const std::string&)> warn)
      : program_(std::move(program)),
        access_(std::move(access)),
        server_(server),
        pages_(pages),
        warn_(std::move(warn)) {}

  std::size_t body_bytes_max(const Request& head) override;
  void request(ExchangeId id, Request request) override;
  void over(ExchangeId id) override { pages_.over(id); }
  void tick() override { pages_.tick(); }

 private:
  bool serve_file(ExchangeId id, const Request& request);
  void sign_in(ExchangeId id, const Request& request);
  void refuse(ExchangeId id, const Request& request, bool wrong);

  const std::string program_;
  const Access access_;
  HttpServer& server_;
  Pages& pages_;
  const std::function<void(const std::string&)> warn_;
  bool warned_ = false;
};

}  // namespace firn::web
