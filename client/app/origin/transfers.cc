#include "client/app/origin/transfers.h"

#include <curl/curl.h>
#include <signal.h>

#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "client/app/origin/transfer.h"
#include "proto/base/start_thread.h"

namespace firn::app {
namespace {

constexpr long kKeptConnections = 32;
constexpr int kPollMs = 60'000;  // what happens wakes the thread before

struct MultiFree {
  void operator()(CURLM* multi) const { ::curl_multi_cleanup(multi); }
};

// What other threads ask for.
struct Order {
  enum class Kind { kBegin, kResume, kCancel };
  Kind kind = Kind::kBegin;
  std::uint64_t id = 0;
  TransferRequest request = {};                  // of kBegin
  std::shared_ptr<TransferSink> sink = nullptr;  // likewise
};

class CurlTransfers : public Transfers {
 public:
  explicit CurlTransfers(TransfersOptions options) : options_(std::move(options)) {
    for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"})
      if (options_.ca_file.empty()) options_.ca_file = options_.environment(name);
  }
  ~CurlTransfers() override {
    if (!thread_.joinable()) return;
    FIRN_CHECK(thread_.get_id() != std::this_thread::get_id());
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    ::curl_multi_wakeup(multi_.get());
    thread_.join();
  }

  Status open() {
    // Once in a process; thread-safe in the libcurl of all systems since 7.84.
    static const CURLcode begun = ::curl_global_init(CURL_GLOBAL_DEFAULT);
    if (begun == CURLE_OK) multi_.reset(::curl_multi_init());
    if (!multi_) return Error{ErrorCode::kInternal, "start libcurl", ::curl_easy_strerror(begun)};
    ::curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, kKeptConnections);
    auto thread = start_thread("origins", [this] { run(); });
    if (!thread) return thread.error();
    thread_ = std::move(*thread);
    return Done{};
  }

  std::uint64_t begin(TransferRequest request, std::shared_ptr<TransferSink> sink) override {
    return give({Order::Kind::kBegin, 0, std::move(request), std::move(sink)});
  }
  void resume(std::uint64_t id) override { give({Order::Kind::kResume, id}); }
  void cancel(std::uint64_t id) override { give({Order::Kind::kCancel, id}); }

 private:
  using Transferring = std::map<std::uint64_t, std::unique_ptr<Transfer>>;

  std::uint64_t give(Order order) {
    std::uint64_t id = order.id;
    {
      const std::lock_guard lock(mutex_);
      if (order.kind == Order::Kind::kBegin) id = order.id = ++last_id_;
      orders_.push_back(std::move(order));
    }
    ::curl_multi_wakeup(multi_.get());
    return id;
  }

  void run() {
    // A connection that the server has closed tells of that by errors.
    sigset_t broken_pipe;
    ::sigemptyset(&broken_pipe);
    ::sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    while (follow_orders()) {
      int running = 0;
      ::curl_multi_perform(multi_.get(), &running);
      int left = 0;
      while (const CURLMsg* message = ::curl_multi_info_read(multi_.get(), &left))
        if (message->msg == CURLMSG_DONE) performed(message->easy_handle, message->data.result);
      ::curl_multi_poll(multi_.get(), nullptr, 0, kPollMs, nullptr);
    }
  }

  // False: all has ended, as the destructor wants.
  bool follow_orders() {
    std::vector<Order> orders;
    bool stops = false;
    {
      const std::lock_guard lock(mutex_);
      orders.swap(orders_);
      stops = stops_;
    }
    for (Order& order : orders) follow(order);
    if (!stops) return true;
    while (!transfers_.empty()) cancel_now(transfers_.begin());
    const std::lock_guard lock(mutex_);
    return !orders_.empty();  // of sinks that were ended
  }

  void follow(Order& order) {
    if (order.kind == Order::Kind::kBegin) {
      auto transfer = std::make_unique<Transfer>(order.id, std::move(order.request),
                                                 std::move(order.sink), options_);
      const auto end = transfer->prepare();
      if (end)
        transfer->end(*end);
      else
        perform(transfers_.emplace(order.id, std::move(transfer)).first->second->handle());
      return;
    }
    const auto found = transfers_.find(order.id);
    if (found == transfers_.end()) return;
    if (order.kind == Order::Kind::kCancel) return cancel_now(found);
    // Bytes that libcurl holds go to the sink within this call. It may end the transfer.
    CURL* const handle = found->second->handle();
    const CURLcode result = ::curl_easy_pause(handle, CURLPAUSE_CONT);
    if (result != CURLE_OK) performed(handle, result);
  }

  void perform(CURL* handle) {
    FIRN_CHECK(::curl_multi_add_handle(multi_.get(), handle) == CURLM_OK);
  }

  void performed(CURL* handle, CURLcode result) {
    Transfer* transfer = nullptr;
    ::curl_easy_getinfo(handle, CURLINFO_PRIVATE, &transfer);
    ::curl_multi_remove_handle(multi_.get(), handle);
    const auto end = transfer->performed(result);
    if (!end) return perform(handle);
    const auto ended = transfers_.extract(transfer->id());
    transfer->end(*end);
  }

  void cancel_now(Transferring::iterator at) {
    const auto cancelled = transfers_.extract(at);
    ::curl_multi_remove_handle(multi_.get(), cancelled.mapped()->handle());
    cancelled.mapped()->cancel();
  }

  TransfersOptions options_;
  std::unique_ptr<CURLM, MultiFree> multi_;
  std::mutex mutex_;  // of the next three
  std::vector<Order> orders_;
  std::uint64_t last_id_ = 0;
  bool stops_ = false;
  Transferring transfers_;  // of the thread
  std::thread thread_;
};

}  // namespace

std::string transfers_library() {
  return curl_version_info(CURLVERSION_NOW)->version;
}

Result<std::shared_ptr<Transfers>> Transfers::start(TransfersOptions options) {
  auto transfers = std::make_shared<CurlTransfers>(std::move(options));
  if (const Status opened = transfers->open(); !opened) return opened.error();
  return std::shared_ptr<Transfers>(std::move(transfers));
}

}  // namespace firn::app
