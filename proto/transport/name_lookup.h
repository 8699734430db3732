// Asks the system's resolver for the addresses of a name.
#pragma once

#include <netdb.h>
#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace firn::proto::transport {

// One question at a time, on its loop's thread. Destroyed before the answer, it gives no answer.
class NameLookup {
 public:
  // `status`: 0, or libuv's error. The list dies with the call.
  using Answer = std::function<void(int status, const addrinfo* list)>;

  NameLookup() = default;
  ~NameLookup();
  NameLookup(const NameLookup&) = delete;
  NameLookup& operator=(const NameLookup&) = delete;

  // 0: `answer` follows, after the call. Else libuv's error, and no answer follows.
  int start(uv_loop_t* loop, const std::string& host, std::uint16_t port, Answer answer);

 private:
  struct Request;
  static void done(uv_getaddrinfo_t* request, int status, addrinfo* list);

  Request* request_ = nullptr;  // owned by libuv while it runs
};

}  // namespace firn::proto::transport
