#include "proto/web/exchange.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "proto/web/form.h"

namespace firn::web {
namespace {

constexpr std::size_t kChunkBytes = 16 << 10;
constexpr std::size_t kSourceChunkBytes = 64 << 10;
// What the kernel holds for a reader of a source that takes nothing (it doubles this).
constexpr int kSourceSendBytes = 128 << 10;
// Of a body that was refused, what may come while the refusal leaves.
constexpr std::size_t kDroppedBytesMax = 256 << 10;

// Nothing is fetched from elsewhere, no script stands in a page, and no page stands in a frame.
// Forms of the page name their origin only if the policy for referrers lets them.
constexpr std::pair<const char*, const char*> kSafety[] = {
    {"content-security-policy",
     "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' "
     "data:; "
     "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
    {"x-content-type-options", "nosniff"},
    {"x-frame-options", "DENY"},
    {"referrer-policy", "same-origin"},
    {"cross-origin-resource-policy", "same-origin"},
    {"cross-origin-opener-policy", "same-origin"},
};

const unsigned char* octets(const char* text) {
  return reinterpret_cast<const unsigned char*>(text);
}

// The other side has sent something that has not been read, or has left.
bool has_input(lws* connection) {
  pollfd input{lws_get_socket_fd(connection), POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

class Head {
 public:
  explicit Head(lws* connection) : connection_(connection) {}

  void begin(int status, const std::string& type, lws_filepos_t bytes) {
    failed_ |= lws_add_http_common_headers(connection_, static_cast<unsigned>(status), type.c_str(),
                                           bytes, &at_, end()) != 0;
  }
  void add(const std::string& name, const std::string& value) {
    const std::string start = name + ":";
    failed_ |=
        lws_add_http_header_by_name(connection_, octets(start.c_str()), octets(value.c_str()),
                                    static_cast<int>(value.size()), &at_, end()) != 0;
  }
  bool write() {
    return !failed_ && lws_finalize_write_http_header(connection_, begin_(), &at_, end()) == 0;
  }

 private:
  unsigned char* begin_() { return buffer_.data() + LWS_PRE; }
  unsigned char* end() { return buffer_.data() + buffer_.size(); }

  lws* const connection_;
  std::array<unsigned char, LWS_PRE + 4096> buffer_{};
  unsigned char* at_ = begin_();
  bool failed_ = false;
};

Fields query_of(lws* connection) {
  Fields query;
  std::array<char, HttpServer::kHeaderBytesMax> text{};
  for (std::size_t i = 0; i < kFieldsMax; ++i) {
    const int size = lws_hdr_copy_fragment(connection, text.data(), static_cast<int>(text.size()),
                                           WSI_TOKEN_HTTP_URI_ARGS, static_cast<int>(i));
    if (size < 0) break;
    const std::string_view pair(text.data(), static_cast<std::size_t>(size));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    query.emplace_back(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
  }
  return query;
}

}  // namespace

std::string Exchange::header(int token) const {
  const auto name = static_cast<lws_token_indexes>(token);
  const int size = lws_hdr_total_length(connection_, name);
  if (size <= 0) return {};
  std::string value(static_cast<std::size_t>(size) + 1, '\0');
  const int copied = lws_hdr_copy(connection_, value.data(), size + 1, name);
  value.resize(static_cast<std::size_t>(std::max(copied, 0)));
  return value;
}

std::optional<Response> Exchange::begin(HttpHandler& handler) {
  char* path = nullptr;
  int path_size = 0;
  const int method = lws_http_get_uri_and_method(connection_, &path, &path_size);
  const bool posts = method == LWSHUMETH_POST && !handler.get_only();
  if (method != LWSHUMETH_GET && method != LWSHUMETH_HEAD && !posts) {
    const char* const allowed = handler.get_only() ? "GET, HEAD" : "GET, HEAD, POST";
    Response refusal = plain_response(405, std::string("answered are ") + allowed);
    refusal.headers = {{"allow", allowed}};
    return refusal;
  }
  request_.method = method == LWSHUMETH_POST ? Method::kPost : Method::kGet;
  head_only_ = request_.head_only = method == LWSHUMETH_HEAD;
  request_.path.assign(path, static_cast<std::size_t>(path_size));
  request_.query = query_of(connection_);
  std::array<char, 64> client{};
  lws_get_peer_simple(connection_, client.data(), client.size());
  request_.client = client.data();
  request_.host = header(WSI_TOKEN_HOST);
  request_.origin = header(WSI_TOKEN_ORIGIN);
  request_.cookie = header(WSI_TOKEN_HTTP_COOKIE);
  request_.authorization = header(WSI_TOKEN_HTTP_AUTHORIZATION);
  request_.content_type = header(WSI_TOKEN_HTTP_CONTENT_TYPE);
  request_.range = header(WSI_TOKEN_HTTP_RANGE);
  request_.if_range = header(WSI_TOKEN_HTTP_IF_RANGE);
  const std::string length = header(WSI_TOKEN_HTTP_CONTENT_LENGTH);
  if (request_.method == Method::kGet && length.empty()) return std::nullopt;
  const char* const end = length.data() + length.size();
  const auto [at, error] = std::from_chars(length.data(), end, body_bytes_);
  if (error != std::errc() || at != end || length.empty()) {
    body_bytes_ = 0;
    return plain_response(411, "a Content-Length is needed");
  }
  if (body_bytes_ > handler.body_bytes_max(request_))
    return plain_response(413, "the body is too long");
  return std::nullopt;
}

bool Exchange::take_body(std::string_view part) {
  if (refused_) {
    dropped_ += part.size();
    return dropped_ <= kDroppedBytesMax;
  }
  if (request_.body.size() + part.size() > body_bytes_) return false;
  request_.body += part;
  return true;
}

void Exchange::answer(Response response, bool refused) {
  if (answered_) return;
  answered_ = true;
  refused_ = refused;
  response_ = std::move(response);
  waits_ = response_.delay.count() > 0;
  if (waits_) {
    lws_set_timer_usecs(connection_, 1000 * static_cast<lws_usec_t>(response_.delay.count()));
  } else {
    lws_callback_on_writable(connection_);
  }
}

void Exchange::release() {
  waits_ = false;
  lws_callback_on_writable(connection_);
}

bool Exchange::push(std::string text) {
  if (!answered_ || !response_.stream || !response_.body.empty()) return false;
  response_.body = std::move(text);
  lws_set_timeout(connection_, PENDING_TIMEOUT_HTTP_CONTENT, HttpServer::kRequestSeconds);
  lws_callback_on_writable(connection_);
  return true;
}

void Exchange::resume() {
  if (!response_.source || !head_written_ || ended_) return;
  lws_rx_flow_control(connection_, 1);
  lws_callback_on_writable(connection_);
}

// libwebsockets reads nothing while a body leaves: it would ask for ever about what has come.
void Exchange::tick() {
  if (!response_.source || !head_written_ || ended_) return;
  const bool stands = std::exchange(written_before_, written_) == written_;
  if (stands && has_input(connection_))
    lws_set_timeout(connection_, PENDING_TIMEOUT_HTTP_CONTENT, LWS_TO_KILL_ASYNC);
}

int Exchange::write() {
  if (!answered_ || waits_ || ended_) return 0;
  if (!head_written_) return write_head();
  return response_.source ? write_from_source() : write_body();
}

int Exchange::write_head() {
  head_written_ = true;
  Head head(connection_);
  const auto bytes = response_.stream ? LWS_ILLEGAL_HTTP_CONTENT_LEN : lws_filepos_t{body_bytes()};
  head.begin(response_.status, response_.content_type, bytes);
  for (const auto& [name, value] : kSafety)
    if (find_field(response_.headers, name) == nullptr) head.add(name, value);
  for (const auto& [name, value] : response_.headers) head.add(name, value);
  head.add("cache-control", response_.cacheable ? "private, max-age=3600" : "no-store");
  if (!response_.location.empty()) head.add("location", response_.location);
  if (!response_.set_cookie.empty()) head.add("set-cookie", response_.set_cookie);
  if (response_.status == 401) head.add("www-authenticate", "Bearer");
  if (!head.write()) return -1;
  if (head_only_) return end();
  if (response_.stream) {
    lws_http_mark_sse(connection_);
  } else if (body_bytes() == 0) {
    return end();
  }
  if (response_.source) {
    (void)::setsockopt(lws_get_socket_fd(connection_), SOL_SOCKET, SO_SNDBUF, &kSourceSendBytes,
                       sizeof kSourceSendBytes);
    lws_set_timeout(connection_, NO_PENDING_TIMEOUT, 0);
  }
  if (body_bytes() > 0) lws_callback_on_writable(connection_);
  return 0;
}

// A chunk at a time: then the next connection has its turn.
int Exchange::write_from_source() {
  const auto want = std::min<std::uint64_t>(kSourceChunkBytes, response_.source_bytes - written_);
  std::vector<unsigned char> chunk(LWS_PRE + want);
  const auto got = response_.source->read(std::span(chunk).subspan(LWS_PRE));
  if (!got.ok()) return -1;
  if (*got == 0) {
    lws_rx_flow_control(connection_, 0);  // which also stops WRITEABLE, until resume()
    return 0;
  }
  const bool last = written_ + *got == response_.source_bytes;
  if (lws_write(connection_, chunk.data() + LWS_PRE, *got,
                last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < 0)
    return -1;
  written_ += *got;
  lws_set_timeout(connection_, NO_PENDING_TIMEOUT, 0);
  if (last) return end();
  lws_callback_on_writable(connection_);
  return 0;
}

int Exchange::write_body() {
  if (response_.body.empty()) return 0;
  const std::size_t left = response_.body.size() - written_;
  const std::size_t bytes = std::min(left, kChunkBytes);
  const bool last = bytes == left;
  std::vector<unsigned char> chunk(LWS_PRE + bytes);
  std::copy_n(response_.body.data() + written_, bytes, chunk.data() + LWS_PRE);
  const bool final = last && !response_.stream;
  if (lws_write(connection_, chunk.data() + LWS_PRE, bytes,
                final ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < 0)
    return -1;
  written_ += bytes;
  if (final) return end();
  if (last) {
    response_.body.clear();
    written_ = 0;
    lws_set_timeout(connection_, NO_PENDING_TIMEOUT, 0);
    return 0;
  }
  lws_set_timeout(connection_, PENDING_TIMEOUT_HTTP_CONTENT, HttpServer::kRequestSeconds);
  lws_callback_on_writable(connection_);
  return 0;
}

int Exchange::end() {
  ended_ = true;
  response_.source.reset();
  if (refused_) return -1;
  return lws_http_transaction_completed(connection_) != 0 ? -1 : 0;
}

}  // namespace firn::web
