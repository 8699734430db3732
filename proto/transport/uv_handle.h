// libuv handles that close themselves. Their memory outlives their owner until libuv lets go, so
// an owner may disappear at any time, also within the handle's own callback.
#pragma once

#include <uv.h>

#include <memory>

namespace firn::proto::transport {

template <typename T>
struct UvClose {
  void operator()(T* handle) const {
    handle->data = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(handle),
             [](uv_handle_t* closed) { delete reinterpret_cast<T*>(closed); });
  }
};

// Only for handles that were initialised (uv_*_init returned 0).
template <typename T>
using UvHandle = std::unique_ptr<T, UvClose<T>>;

// An initialised handle with `data` set, or null if libuv refuses.
template <typename T, typename Init>
UvHandle<T> make_uv_handle(void* data, Init init) {
  auto memory = std::make_unique<T>();
  if (init(memory.get()) != 0) return nullptr;
  memory->data = data;
  return UvHandle<T>(memory.release());
}

}  // namespace firn::proto::transport
