// Asks the system's resolver for the addresses of a name, for what lives on a libuv loop.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "proto/transport/name_question.h"
#include "proto/transport/uv_handle.h"

namespace firn::proto::transport {

// One question at a time, on its loop's thread. Destroyed before the answer, it gives no answer.
class NameLookup {
 public:
  // As NameQuestion::Answer, on the loop's thread.
  using Answer = NameQuestion::Answer;

  // `answer` follows, after the call. False: libuv refuses, and none follows.
  bool start(uv_loop_t* loop, const std::string& host, std::uint16_t port, Answer answer);

 private:
  void come();

  std::mutex mutex_;
  std::optional<Result<Addresses>> result_;
  Answer answer_;
  UvHandle<uv_async_t> answered_;
  std::unique_ptr<NameQuestion> question_;  // destroyed before what its answer uses
};

}  // namespace firn::proto::transport
