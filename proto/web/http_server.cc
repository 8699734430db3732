#include "proto/web/http_server.h"

#include <libwebsockets.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proto/base/start_thread.h"
#include "proto/base/thread_times.h"
#include "proto/base/unique_fd.h"
#include "proto/web/access.h"
#include "proto/web/exchange.h"

namespace firn::web {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr int kKeptAliveSeconds = 30;
// A connection whose other side has vanished is noticed after about two minutes.
constexpr int kProbeSeconds = 60;
constexpr int kProbes = 4;
constexpr int kProbeIntervalSeconds = 15;
constexpr std::chrono::milliseconds kLastWords{500};  // for answers, when the server ends

// A bare timer of libwebsockets, and whose it is.
struct Ticker {
  lws_sorted_usec_list_t entry{};  // first: the callback gets its address
  void* owner = nullptr;
};

Result<std::string> numeric_host(const Address& listen) {
  if (listen.host.empty() || listen.host == "*") return std::string();
  if (listen.host == "localhost") return std::string(kLoopback);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (::getaddrinfo(listen.host.c_str(), nullptr, &hints, &found) != 0)
    return Error{ErrorCode::kBadInput, "listen for HTTP at " + to_text(listen),
                 "the host must be localhost or a numeric address"};
  ::freeaddrinfo(found);
  return listen.host;
}

// libwebsockets does not tell why it cannot listen.
Status try_to_bind(const std::string& host, std::uint16_t port, const std::string& operation) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_family = host.empty() ? AF_INET6 : AF_UNSPEC;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints,
                    &found) != 0)
    return Done{};
  const UniqueFd probe(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  (void)::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool bound = probe.get() < 0 || ::bind(probe.get(), found->ai_addr, found->ai_addrlen) == 0;
  const int error = errno;
  ::freeaddrinfo(found);
  if (bound) return Done{};
  if (error == EADDRINUSE)
    return Error{ErrorCode::kExists, operation, "the port is in use; name another"};
  return error_from_errno(operation, error);
}

}  // namespace

struct HttpServer::Impl {
  ServerOptions options;
  Address listening;
  lws_context* context = nullptr;
  HttpHandler* handler = nullptr;
  std::thread thread;
  std::atomic<bool> stopping = false;

  std::mutex mutex;
  std::vector<std::function<void()>> posted;  // under mutex

  // The server's thread.
  std::set<lws*> connections;
  std::unordered_map<lws*, std::unique_ptr<Exchange>> exchanges;
  std::unordered_map<ExchangeId, Exchange*> by_id;
  ExchangeId next_id = 1;
  Ticker ticker;

  Status open();
  void serve();
  void run_posted();
  void finish();
  void tick();
  int event(lws* connection, lws_callback_reasons reason, std::string_view bytes);
  int begin(lws* connection);
  int hand_over(Exchange& exchange);
  void forget(lws* connection);
  Exchange* find(lws* connection) {
    const auto found = exchanges.find(connection);
    return found == exchanges.end() ? nullptr : found->second.get();
  }

  static int callback(lws* connection, lws_callback_reasons reason, void*, void* in,
                      std::size_t size) {
    auto* const self = static_cast<Impl*>(lws_context_user(lws_get_context(connection)));
    if (self == nullptr || self->handler == nullptr) return 0;
    try {
      return self->event(connection, reason, {static_cast<const char*>(in), in ? size : 0});
    } catch (const std::bad_alloc&) {
      return -1;  // it is closed; the others go on
    }
  }
};

namespace {

constexpr lws_protocols no_protocol() {
  return {};
}

}  // namespace

Status HttpServer::Impl::open() {
  const auto host = numeric_host(options.listen);
  if (!host.ok()) return host.error();
  const std::string operation = "listen for HTTP at " + to_text(options.listen);
  if (const Status free = try_to_bind(*host, options.listen.port, operation); !free.ok())
    return free.error();
  lws_set_log_level(0, nullptr);
  static lws_protocols protocols[2] = {no_protocol(), no_protocol()};
  protocols[0].name = "http";
  protocols[0].callback = callback;
  lws_context_creation_info info{};
  info.iface = host->empty() ? nullptr : host->c_str();
  info.port = options.listen.port;
  info.protocols = protocols;
  info.user = this;
  info.uid = info.gid = static_cast<decltype(info.gid)>(-1);
  info.server_string = "firn";
  info.options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND;
  if (host->find('.') != std::string::npos) info.options |= LWS_SERVER_OPTION_DISABLE_IPV6;
  info.max_http_header_data = kHeaderBytesMax;
  info.max_http_header_pool = static_cast<unsigned short>(options.connections_max);
  info.fd_limit_per_thread = static_cast<unsigned>(options.connections_max) + 16;
  info.timeout_secs = info.timeout_secs_ah_idle = kRequestSeconds;
  info.keepalive_timeout = kKeptAliveSeconds;
  info.ka_time = kProbeSeconds;
  info.ka_probes = kProbes;
  info.ka_interval = kProbeIntervalSeconds;
  context = lws_create_context(&info);
  if (context == nullptr)
    return Error{ErrorCode::kIo, operation, "libwebsockets cannot listen there"};
  listening = {{}, *host, 0};
  listening.port = static_cast<std::uint16_t>(
      lws_get_vhost_listen_port(lws_get_vhost_by_name(context, "default")));
  return Done{};
}

void HttpServer::Impl::serve() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  if (options.niceness != 0)
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), options.niceness);
  ticker.owner = this;
  tick();
  while (!stopping && lws_service(context, 0) >= 0) run_posted();
  finish();
}

// What has been answered still leaves, such as the answer to the request that ends the program.
void HttpServer::Impl::finish() {
  run_posted();
  const auto owes = [](const auto& one) { return one.second->owes(); };
  const auto end = std::chrono::steady_clock::now() + kLastWords;
  while (std::ranges::any_of(exchanges, owes) && std::chrono::steady_clock::now() < end)
    if (lws_service(context, 0) < 0) return;
}

void HttpServer::Impl::tick() {
  handler->tick();
  for (const auto& [connection, exchange] : exchanges) exchange->tick();
  const auto again = [](lws_sorted_usec_list_t* entry) {
    static_cast<Impl*>(reinterpret_cast<Ticker*>(entry)->owner)->tick();
  };
  constexpr lws_usec_t kMicroseconds = std::chrono::microseconds(HttpServer::kTickInterval).count();
  lws_sul_schedule(context, 0, &ticker.entry, again, kMicroseconds);
}

void HttpServer::Impl::run_posted() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex);
    tasks.swap(posted);
  }
  for (const auto& task : tasks) task();
}

int HttpServer::Impl::event(lws* connection, lws_callback_reasons reason, std::string_view bytes) {
  switch (reason) {
    case LWS_CALLBACK_FILTER_NETWORK_CONNECTION:
      return connections.size() >= options.connections_max ? 1 : 0;
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
      connections.insert(connection);
      return 0;
    case LWS_CALLBACK_WSI_DESTROY:
      connections.erase(connection);
      forget(connection);
      return 0;
    case LWS_CALLBACK_CLOSED_HTTP:
      forget(connection);
      return 0;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
      return 1;  // neither HTTP/2 nor WebSocket
    case LWS_CALLBACK_HTTP:
      return begin(connection);
    case LWS_CALLBACK_HTTP_BODY: {
      Exchange* const exchange = find(connection);
      return exchange == nullptr || exchange->take_body(bytes) ? 0 : -1;
    }
    case LWS_CALLBACK_HTTP_BODY_COMPLETION: {
      Exchange* const exchange = find(connection);
      return exchange == nullptr || !exchange->has_request() || exchange->answered()
                 ? 0
                 : hand_over(*exchange);
    }
    case LWS_CALLBACK_HTTP_WRITEABLE: {
      Exchange* const exchange = find(connection);
      return exchange == nullptr ? 0 : exchange->write();
    }
    case LWS_CALLBACK_TIMER: {
      Exchange* const exchange = find(connection);
      if (exchange != nullptr) exchange->release();
      return 0;
    }
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
      run_posted();
      return 0;
    default:
      return 0;
  }
}

int HttpServer::Impl::begin(lws* connection) {
  forget(connection);
  auto made = std::make_unique<Exchange>(next_id++, connection);
  Exchange& exchange = *made;
  by_id[exchange.id()] = &exchange;
  exchanges[connection] = std::move(made);
  if (auto refusal = exchange.begin(*handler)) {
    exchange.answer(*std::move(refusal), true);
    return 0;
  }
  return exchange.awaits_body() ? 0 : hand_over(exchange);
}

int HttpServer::Impl::hand_over(Exchange& exchange) {
  // Until it is answered nothing is due from the other side.
  handler->request(exchange.id(), exchange.take_request());
  return 0;
}

void HttpServer::Impl::forget(lws* connection) {
  const auto found = exchanges.find(connection);
  if (found == exchanges.end()) return;
  const ExchangeId id = found->second->id();
  by_id.erase(id);
  exchanges.erase(found);
  handler->over(id);
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::open(const ServerOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  if (const Status opened = impl->open(); !opened.ok()) return opened.error();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::~HttpServer() {
  impl_->stopping = true;
  if (impl_->thread.joinable()) {
    lws_cancel_service(impl_->context);
    impl_->thread.join();
  }
  impl_->handler = nullptr;
  // What sources of bodies still post() needs the context.
  impl_->exchanges.clear();
  lws_context_destroy(impl_->context);
}

const Address& HttpServer::listening() const {
  return impl_->listening;
}

std::string HttpServer::url() const {
  Address shown = impl_->listening;
  if (shown.host.empty()) shown.host = kLoopback;
  return "http://" + to_text(shown) + "/";
}

bool HttpServer::for_others() const {
  return !is_loopback(impl_->listening.host);
}

Status HttpServer::run(HttpHandler& handler) {
  impl_->handler = &handler;
  auto thread = start_thread("the page", [impl = impl_.get()] {
    name_this_thread("firn-http");
    impl->serve();
  });
  if (!thread) return thread.error();
  impl_->thread = *std::move(thread);
  return Done{};
}

void HttpServer::post(std::function<void()> task) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->posted.push_back(std::move(task));
  }
  lws_cancel_service(impl_->context);
}

void HttpServer::reply(ExchangeId id, Response response) {
  const auto found = impl_->by_id.find(id);
  if (found != impl_->by_id.end()) found->second->answer(std::move(response), false);
}

bool HttpServer::push(ExchangeId id, std::string text) {
  const auto found = impl_->by_id.find(id);
  return found != impl_->by_id.end() && found->second->push(std::move(text));
}

void HttpServer::resume(ExchangeId id) {
  const auto found = impl_->by_id.find(id);
  if (found != impl_->by_id.end()) found->second->resume();
}

}  // namespace firn::web
