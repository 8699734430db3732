#include "proto/transport/name_lookup.h"

#include <sys/socket.h>

#include <utility>

namespace firn::proto::transport {

// Runs on libuv's pool and may outlive the object that asked.
struct NameLookup::Request {
  uv_getaddrinfo_t uv{};
  NameLookup* owner = nullptr;  // null: it is gone
  Answer answer;
};

int NameLookup::start(uv_loop_t* loop, const std::string& host, std::uint16_t port, Answer answer) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  auto request = std::make_unique<Request>();
  request->owner = this;
  request->answer = std::move(answer);
  request->uv.data = request.get();
  const int status =
      uv_getaddrinfo(loop, &request->uv, done, host.c_str(), std::to_string(port).c_str(), &hints);
  if (status == 0) request_ = request.release();
  return status;
}

void NameLookup::done(uv_getaddrinfo_t* uv, int status, addrinfo* list) {
  const std::unique_ptr<Request> request(static_cast<Request*>(uv->data));
  if (request->owner != nullptr) {
    request->owner->request_ = nullptr;
    request->answer(status, list);
  }
  uv_freeaddrinfo(list);
}

// Only a look-up that has not begun can be cancelled; another ends by itself, and its
// answer is dropped.
NameLookup::~NameLookup() {
  if (request_ == nullptr) return;
  request_->owner = nullptr;
  uv_cancel(reinterpret_cast<uv_req_t*>(&request_->uv));
}

}  // namespace firn::proto::transport
