// A web server on 127.0.0.1 that answers as a test says, byte by byte: with faults that no real
// server has on demand. A thread for each connection; everything ends with the object.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "proto/base/unique_fd.h"

namespace firn::tests {

// One request, on its connection's thread.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // The path of the request with its query, and a header of it: names in small letters; "" if there
  // is none.
  virtual const std::string& path() const = 0;
  virtual std::string header(std::string_view name) const = 0;
  // False: the client has closed the connection.
  virtual bool send(std::string_view bytes) = 0;
  // Lets so long pass, or until the client says or closes something.
  virtual void pause_ms(int ms) = 0;
  // Returns when the client has closed the connection, or the server ends.
  virtual void wait_for_end() = 0;
};

// True: the connection stays for another request.
using Answer = std::function<bool(Exchange&)>;

enum class Speaks { kHttp, kHttps };

class FaultyServer {
 public:
  // Of kHttps: with a certificate for 127.0.0.1 that nobody but itself has signed.
  explicit FaultyServer(Answer answer, Speaks speaks = Speaks::kHttp);
  ~FaultyServer();
  FaultyServer(const FaultyServer&) = delete;
  FaultyServer& operator=(const FaultyServer&) = delete;

  int port() const { return port_; }
  // "http://127.0.0.1:PORT" and `path`.
  std::string url(const std::string& path = "/file") const;
  std::string certificate() const;  // PEM; of kHttps
  int connections() const;          // accepted so far
  int requests() const;             // read so far
  void count_request();

 private:
  void accept_all();
  void serve(int fd);

  const Answer answer_;
  const Speaks speaks_;
  UniqueFd listener_;
  int port_ = 0;
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> tls_;
  mutable std::mutex mutex_;  // of the next four
  std::list<UniqueFd> sockets_;
  std::list<std::thread> threads_;
  int requests_ = 0;
  bool ends_ = false;
  std::thread acceptor_;
};

// What an ordinary server does with `file`, its ETag (with quotes; "" for none) and the headers
// Range, If-Range and If-Match.
bool serve_file(Exchange& exchange, std::string_view file, const std::string& etag);

}  // namespace firn::tests
