// Transfers that a test answers by hand, on the thread that asks.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/app/origin/transfers.h"

namespace firn::tests {

class FakeTransfers final : public app::Transfers {
 public:
  struct One {
    app::TransferRequest request;
    std::shared_ptr<app::TransferSink> sink;
    bool answered = false;  // head() has been called
    bool waits = false;     // take() has returned false
    std::uint64_t taken = 0;
  };

  std::uint64_t begin(app::TransferRequest request,
                      std::shared_ptr<app::TransferSink> sink) override {
    asked.push_back(request.url.text());
    under_way[++last_id_] = {std::move(request), std::move(sink), false, false, 0};
    return last_id_;
  }
  void resume(std::uint64_t id) override {
    const auto found = under_way.find(id);
    if (found != under_way.end()) found->second.waits = false;
  }
  void cancel(std::uint64_t id) override {
    if (under_way.contains(id) && !slow_to_cancel) end(id, app::Fault::kCancelled);
  }

  // Sends the next bytes of the file's range, `count` at most; ends the transfer with the last.
  void send(std::uint64_t id, const std::string& file, std::size_t count) {
    One& one = under_way.at(id);
    if (one.waits) return;
    const app::FileRange range = *one.request.range;
    if (!std::exchange(one.answered, true)) {
      app::OriginAnswer answer;
      answer.status = 206;
      answer.etag = etag;
      CHECK(one.sink->head(answer).ok());
    }
    const std::string bytes = file.substr(range.first + one.taken,
                                          std::min<std::uint64_t>(count, range.count - one.taken));
    // A part of it may be taken: the same bytes come again after resume().
    if (!one.sink->take({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()})) {
      one.waits = true;
      return;
    }
    one.taken += bytes.size();
    if (one.taken == range.count) end(id, app::Fault::kNone);
  }
  void end(std::uint64_t id, app::Fault fault, std::optional<std::uint32_t> retry_after_s = {}) {
    const std::shared_ptr<app::TransferSink> sink = under_way.at(id).sink;
    app::TransferEnd end;
    end.fault = fault;
    end.retry_after_s = retry_after_s;
    if (fault != app::Fault::kNone)
      end.status = Error{ErrorCode::kUnreachable, "fetch " + under_way.at(id).request.url.shown(),
                         "made to fail"};
    under_way.erase(id);
    sink->ended(end);
  }

  std::map<std::uint64_t, One> under_way;
  std::vector<std::string> asked;  // URLs, in order
  std::string etag = "\"1\"";
  bool slow_to_cancel = false;  // what is cancelled has not ended yet

 private:
  std::uint64_t last_id_ = 0;
};

}  // namespace firn::tests
