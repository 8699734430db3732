#include "client/app/origin/transfer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <ctime>
#include <new>

#include "client/app/origin/proxy_choice.h"
#include "client/app/version.h"
#include "proto/base/address_kind.h"
#include "proto/base/plain_text.h"
#include "proto/base/within_memory.h"

namespace firn::app {
namespace {

constexpr long kReadBytes = 256 << 10;
// What a server says besides a refusal or redirect is read up to here, so that its connection can
// be used again.
constexpr std::uint64_t kUnusedBytesMax = 64 << 10;
constexpr std::size_t kRefusalBytesMax = 4 << 10;  // of a body that says why
// An origin that sends fewer bytes a second than this counts as stalled: else one byte a second
// would hold up what was asked for without an end. A modem's link is faster.
constexpr long kStalledBytesPerSecond = 2 << 10;
constexpr std::size_t kCurlWordsMax = 300;
// S3 wants the SHA-256 of a request's body, here of none; libcurl 7.88 does not add it by itself.
constexpr const char* kEmptyPayload =
    "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

const char* kind_name(AddressKind kind) {
  switch (kind) {
    case AddressKind::kPrivate:
      return "private";
    case AddressKind::kLinkLocal:
      return "link-local";
    case AddressKind::kLoopback:
      return "loopback";
    case AddressKind::kUnspecified:
      return "unspecified";
    case AddressKind::kMulticast:
      return "multicast or reserved";
    case AddressKind::kGlobal:
      break;
  }
  return "global";
}

// Numeric, without a zone; empty: of another family.
std::string ip_of(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.sa_family == AF_INET)
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text,
                sizeof(text));
  else if (address.sa_family == AF_INET6)
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text,
                sizeof(text));
  return text;
}

void append(CurlList& list, const std::string& line) {
  curl_slist* const longer = ::curl_slist_append(list.get(), line.c_str());
  FIRN_CHECK(longer != nullptr);  // no memory
  (void)list.release();
  list.reset(longer);
}

// As libcurl wants a header: without a value it is written with ';', else it would be taken out.
std::string header_line(std::string header) {
  const std::size_t colon = header.find(':');
  if (header.find_first_not_of(' ', colon + 1) != std::string::npos) return header;
  return header.substr(0, colon) + ";";
}

}  // namespace

Transfer::Transfer(std::uint64_t id, TransferRequest request, std::shared_ptr<TransferSink> sink,
                   const TransfersOptions& options)
    : id_(id),
      request_(std::move(request)),
      sink_(std::move(sink)),
      options_(options),
      handle_(::curl_easy_init()) {
  FIRN_CHECK(handle_ && request_.access && sink_);
  if (request_.range)
    FIRN_CHECK(request_.range->count > 0 &&
               request_.range->first <= UINT64_MAX - request_.range->count);
}

std::string Transfer::where() const {
  const std::string asked = request_.url.shown();
  return redirects_ == 0 ? asked : asked + " (redirected to " + url_.shown() + ")";
}

TransferEnd Transfer::fault(Fault fault, ErrorCode code, const std::string& why) const {
  TransferEnd end;
  end.fault = fault;
  end.status = Error{code, "fetch " + where(), why};
  return end;
}

void Transfer::cancel() {
  end(fault(Fault::kCancelled, ErrorCode::kCancelled, "cancelled"));
}

std::optional<TransferEnd> Transfer::prepare() {
  const auto url = request_url(request_.url, *request_.access);
  if (!url) {
    TransferEnd end;
    end.fault = Fault::kNotAllowed;
    end.status = url.error();
    return end;
  }
  url_ = *url;
  set_up();
  return verdict_;
}

void Transfer::set_up() {
  address_.clear();
  refused_address_.clear();
  header_.clear();
  answer_.reset();
  received_ = 0;
  refusal_.clear();
  no_memory_ = false;
  proxy_ = proxy_for(url_, options_.environment);
  // access.proxies is for the origin's own host, as credentials are.
  if (!proxy_.empty() && !(request_.access->proxies && with_credentials_)) {
    const std::string advice =
        with_credentials_
            ? "give the origin by hand (--origin), name its host with --origin-host, or except it "
            : "give the URL to which the server redirects by hand, or except its host ";
    verdict_ = fault(Fault::kNotAllowed, ErrorCode::kBadInput,
                     "the environment names a proxy for this host, and behind one firn cannot "
                     "check which address is reached; " +
                         advice + "with NO_PROXY");
    return;
  }

  CURL* const curl = handle_.get();
  ::curl_easy_reset(curl);
  ::curl_easy_setopt(curl, CURLOPT_PRIVATE, this);
  ::curl_easy_setopt(curl, CURLOPT_URL, url_.text().c_str());
  ::curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);  // follow() does, and checks
  ::curl_easy_setopt(curl, CURLOPT_PROXY, proxy_.c_str());
  ::curl_easy_setopt(curl, CURLOPT_NOPROXY, "");
  ::curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  ::curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
  ::curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);  // wait for no name lookup
#endif
  ::curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, curl_words_.data());
  curl_words_[0] = 0;
  ::curl_easy_setopt(curl, CURLOPT_USERAGENT, (std::string("firn/") + kVersion).c_str());
  ::curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, kReadBytes);
  ::curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
  ::curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, long{options_.connect_timeout_ms});
  ::curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kStalledBytesPerSecond);
  ::curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, long{options_.stall_timeout_s});
  if (!options_.ca_file.empty()) ::curl_easy_setopt(curl, CURLOPT_CAINFO, options_.ca_file.c_str());
  // Asked for as they are, and never decoded: a server that compresses all the same is found out.
  ::curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "identity");
  ::curl_easy_setopt(curl, CURLOPT_HTTP_CONTENT_DECODING, 0L);

  ::curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  ::curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
  ::curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  ::curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  ::curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, &Transfer::on_socket);
  ::curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, this);
  ::curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, &Transfer::on_connected);
  ::curl_easy_setopt(curl, CURLOPT_PREREQDATA, this);

  if (request_.range) {
    const auto [first, count] = *request_.range;
    const std::string range = std::to_string(first) + "-" + std::to_string(first + count - 1);
    ::curl_easy_setopt(curl, CURLOPT_RANGE, range.c_str());
  }
  CurlList headers;
  if (const std::string& state = request_.validator; !state.empty()) {
    const char* const condition = request_.range           ? "If-Range: "
                                  : state.starts_with('"') ? "If-Match: "
                                                           : "If-Unmodified-Since: ";
    append(headers, condition + state);
  }
  if (with_credentials_) set_up_credentials(headers);
  headers_ = std::move(headers);
  ::curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers_.get());
}

void Transfer::set_up_credentials(CurlList& headers) {
  CURL* const curl = handle_.get();
  const OriginAccess& access = *request_.access;
  for (const std::string& header : access.headers)
    if (check_header(header)) append(headers, header_line(header));
  const auto set_user = [&](const std::string& user, const std::string& password) {
    ::curl_easy_setopt(curl, CURLOPT_USERNAME, user.c_str());
    ::curl_easy_setopt(curl, CURLOPT_PASSWORD, password.c_str());
  };
  if (request_.url.scheme() == OriginUrl::Scheme::kS3) {
    if (!access.aws) return;
    ::curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, ("aws:amz:" + s3_region(access) + ":s3").c_str());
    set_user(access.aws->id, access.aws->secret);
    append(headers, kEmptyPayload);
    if (!access.aws->session_token.empty())
      append(headers, "X-Amz-Security-Token: " + access.aws->session_token);
    return;
  }
  const OriginUrl& given = request_.url;  // a redirect's URL has no user
  if (access.by_hand && !(given.user().empty() && given.password().empty())) {
    set_user(given.user(), given.password());
  } else if (access.netrc) {
    ::curl_easy_setopt(curl, CURLOPT_NETRC, long{CURL_NETRC_OPTIONAL});
    if (const std::string file = options_.environment("NETRC"); !file.empty())
      ::curl_easy_setopt(curl, CURLOPT_NETRC_FILE, file.c_str());
  }
}

bool Transfer::allows(const std::string& ip) {
  if (!proxy_.empty()) return true;  // its address, that the environment names
  const AddressKind kind = address_kind(ip);
  const bool allowed =
      kind == AddressKind::kGlobal ||
      (request_.access->by_hand &&
       (with_credentials_ ||
        may_be_named_by(speaker_, ip, address_kind(speaker_) == AddressKind::kPrivate)));
  if (!allowed) refused_address_ = ip;
  return allowed;
}

// What `work` returns; `abort` if it finds no memory, as no exception may go through libcurl.
template <typename Answer, typename Work>
Answer Transfer::within_callback(void* self, Answer abort, Work work) noexcept {
  auto& transfer = *static_cast<Transfer*>(self);
  try {
    return work(transfer);
  } catch (const std::bad_alloc&) {
    transfer.no_memory_ = true;
    return abort;
  }
}

// A connection that stands already was made by a transfer that may have been allowed more.
int Transfer::on_connected(void* self, char* ip, char*, int, int) noexcept {
  return within_callback<int>(self, CURL_PREREQFUNC_ABORT, [ip](Transfer& transfer) {
    const std::string_view text(ip);
    transfer.address_ = text.substr(0, text.find('%'));
    return transfer.allows(transfer.address_) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
  });
}

curl_socket_t Transfer::on_socket(void* self, curlsocktype, curl_sockaddr* address) noexcept {
  return within_callback<curl_socket_t>(self, CURL_SOCKET_BAD, [address](Transfer& transfer) {
    const std::string ip = ip_of(address->addr);
    if (ip.empty() || !transfer.allows(ip)) return CURL_SOCKET_BAD;
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  });
}

std::size_t Transfer::on_header(char* bytes, std::size_t, std::size_t count, void* self) noexcept {
  return within_callback<std::size_t>(self, 0, [=](Transfer& transfer) {
    if (transfer.answer_) return count;  // trailers
    transfer.header_.append(bytes, count);
    const std::string_view line(bytes, count);
    const bool whole = line == "\r\n" || line == "\n";
    if (!whole && transfer.header_.size() <= kAnswerHeaderBytesMax) return count;
    return transfer.judge_head() ? count : 0;
  });
}

std::size_t Transfer::on_body(char* bytes, std::size_t, std::size_t count, void* self) noexcept {
  return within_callback<std::size_t>(self, 0, [=](Transfer& transfer) {
    return transfer.take({reinterpret_cast<const std::uint8_t*>(bytes), count});
  });
}

// False: the transfer ends here.
bool Transfer::judge_head() {
  auto answer = parse_answer(header_, std::time(nullptr));
  header_.clear();
  if (!answer) {
    verdict_ = fault(Fault::kPassing, answer.error().code,
                     "cannot read the server's answer: " + answer.error().detail);
    return false;
  }
  if (answer->status < 200) return true;  // the answer itself follows
  answer_ = std::move(*answer);
  if (is_redirect(answer_->status)) return true;
  if (TransferEnd judged = check_answer(request_, *answer_, where());
      judged.fault != Fault::kNone) {
    verdict_ = std::move(judged);
    return answer_->status >= 300;
  }
  accepted_ = true;
  expected_ = request_.range  ? request_.range->count
              : answer_->size ? answer_->size
                              : request_.size;
  const Status taken = sink_->head(*answer_);
  if (!taken) verdict_ = TransferEnd{taken, Fault::kCancelled, {}};
  return taken.ok();
}

std::size_t Transfer::take(std::span<const std::uint8_t> bytes) {
  const std::size_t count = bytes.size();
  if (!accepted_) {
    received_ += count;
    refusal_.append(reinterpret_cast<const char*>(bytes.data()),
                    std::min(count, kRefusalBytesMax - refusal_.size()));
    return received_ <= kUnusedBytesMax ? count : 0;
  }
  const std::uint64_t left = expected_ ? *expected_ - received_ : UINT64_MAX;
  const auto wanted = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(count, left)));
  if (!wanted.empty()) {
    if (!sink_->take(wanted)) return CURL_WRITEFUNC_PAUSE;
    received_ += wanted.size();
  }
  if (wanted.size() == count) return count;
  verdict_ = more_than_asked();
  return 0;
}

TransferEnd Transfer::more_than_asked() const {
  const std::string why =
      "the server sends more than the " + std::to_string(*expected_) + " bytes ";
  return request_.range ? fault(Fault::kNoRanges, ErrorCode::kProtocol,
                                why + "that were asked for; the rest was not read")
                        : fault(Fault::kChanged, ErrorCode::kCorrupt,
                                why + "that the file has; the rest was not read");
}

std::optional<TransferEnd> Transfer::performed(CURLcode result) {
  if (no_memory_) return TransferEnd{no_memory("fetch " + where()), Fault::kPassing, {}};
  if (verdict_ && answer_ && answer_->status >= 400) {
    answer_->reason = reason_of_body(refusal_);
    return check_answer(request_, *answer_, where());
  }
  if (verdict_) return verdict_;
  if (!refused_address_.empty() &&
      (result == CURLE_COULDNT_CONNECT || result == CURLE_ABORTED_BY_CALLBACK))
    return fault(
        redirects_ == 0 && url_.is_by_hand_only() ? Fault::kNotAllowed : Fault::kWrongServer,
        ErrorCode::kBadInput,
        "its address " + refused_address_ + " is " + kind_name(address_kind(refused_address_)) +
            (request_.access->by_hand
                 ? ", and a redirect must not lead there from another network"
                 : ", and only an origin given by hand (--origin) may have such a one"));
  if (result != CURLE_OK) return fault_of(result);
  if (!answer_) return fault_of(CURLE_GOT_NOTHING);
  if (!accepted_) return follow();
  if (expected_ && received_ < *expected_) return fault_of(CURLE_PARTIAL_FILE);
  return TransferEnd{};
}

std::optional<TransferEnd> Transfer::follow() {
  const char* location = nullptr;
  ::curl_easy_getinfo(handle_.get(), CURLINFO_REDIRECT_URL, &location);
  if (location == nullptr) return check_answer(request_, *answer_, where());
  const auto refuse = [&](const std::string& why) {
    return fault(Fault::kNotAllowed, ErrorCode::kBadInput, "the server redirects " + why);
  };
  if (redirects_ == kRedirectsMax)
    return refuse("more than " + std::to_string(kRedirectsMax) + " times; check the URL");
  auto target = parse_origin(location);
  if (target) target = parse_origin(target->text());  // without a user whom the server names
  if (!target) return refuse("to what is no URL for files: " + target.error().detail);
  if (target->scheme() == OriginUrl::Scheme::kS3)
    return refuse("to a bucket (s3://), and only http and https are followed");
  if (url_.scheme() == OriginUrl::Scheme::kHttps && target->scheme() == OriginUrl::Scheme::kHttp)
    return refuse(
        "from https to " + target->shown() +
        ", which anybody on the way could read and change; use the https URL of the file");
  if (target->path() == url_.path() + "/")
    return fault(Fault::kNotAllowed, ErrorCode::kBadInput, folder_advice(*target));
  with_credentials_ = with_credentials_ && url_.same_host(*target);
  url_ = *target;
  speaker_ = proxy_.empty() ? address_ : "";
  ++redirects_;
  set_up();
  return verdict_;
}

TransferEnd Transfer::fault_of(CURLcode result) const {
  const std::string words = to_plain_text(
      curl_words_[0] != 0 ? curl_words_.data() : ::curl_easy_strerror(result), kCurlWordsMax);
  const auto passing = [&](const std::string& why) {
    return fault(Fault::kPassing, ErrorCode::kUnreachable, why);
  };
  const auto unreached = [&](const std::string& why) {
    TransferEnd end = passing(why);
    end.reached = false;
    return end;
  };
  curl_off_t connected_us = 0;
  switch (result) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return unreached("the name is not found (" + words +
                       "); check the host's name and the network");
    case CURLE_COULDNT_CONNECT:
      return unreached("no connection (" + words + "); check that the server runs");
    case CURLE_OPERATION_TIMEDOUT:
      ::curl_easy_getinfo(handle_.get(), CURLINFO_PRETRANSFER_TIME_T, &connected_us);
      if (connected_us == 0)
        return unreached("no connection within " + std::to_string(options_.connect_timeout_ms) +
                         " ms; check that the server can be reached");
      return passing("the server sent less than " + std::to_string(kStalledBytesPerSecond >> 10) +
                     " KiB/s for " + std::to_string(options_.stall_timeout_s) +
                     " s; try again later");
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return passing("the server ended the connection early, after " + std::to_string(received_) +
                     " bytes; try again later");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
      return fault(Fault::kWrongServer, ErrorCode::kWrongIdentity,
                   "the server's certificate cannot be trusted (" + words +
                       "); check the host's name, or name a file with its authority in "
                       "CURL_CA_BUNDLE");
    case CURLE_WRITE_ERROR:
      return passing("the server sends more than " + std::to_string(kUnusedBytesMax) +
                     " bytes besides a redirect");
    case CURLE_UNSUPPORTED_PROTOCOL:
      return passing("the server does not speak HTTP (" + words + "); check host and port");
    case CURLE_URL_MALFORMAT:
    case CURLE_AUTH_ERROR:
    case CURLE_BAD_FUNCTION_ARGUMENT:
    case CURLE_NOT_BUILT_IN:
      return fault(Fault::kNotAllowed, ErrorCode::kBadInput, words + "; check the URL");
    default:
      return passing(words + "; try again later");
  }
}

}  // namespace firn::app
