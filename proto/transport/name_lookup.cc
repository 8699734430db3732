#include "proto/transport/name_lookup.h"

#include <utility>

namespace firn::proto::transport {

bool NameLookup::start(uv_loop_t* loop, const std::string& host, std::uint16_t port,
                       Answer answer) {
  answer_ = std::move(answer);
  answered_ = make_uv_handle<uv_async_t>(this, [loop](uv_async_t* handle) {
    return uv_async_init(loop, handle, [](uv_async_t* async) {
      if (async->data != nullptr) static_cast<NameLookup*>(async->data)->come();
    });
  });
  if (!answered_) return false;
  question_ = std::make_unique<NameQuestion>(host, port, [this](Result<Addresses> addresses) {
    const std::lock_guard lock(mutex_);
    result_ = std::move(addresses);
    uv_async_send(answered_.get());
  });
  return true;
}

// The answer may destroy this.
void NameLookup::come() {
  std::unique_lock lock(mutex_);
  if (!result_) return;
  Result<Addresses> result = *std::exchange(result_, std::nullopt);
  lock.unlock();
  question_.reset();
  answered_.reset();
  std::exchange(answer_, nullptr)(std::move(result));
}

}  // namespace firn::proto::transport
