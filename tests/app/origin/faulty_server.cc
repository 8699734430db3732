#include "tests/app/origin/faulty_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>

#include "proto/base/plain_text.h"
#include "proto/base/result.h"
#include "proto/web/byte_range.h"

namespace firn::tests {
namespace {

// The bytes of a connection, with TLS or without.
class Channel {
 public:
  Channel(int fd, SSL_CTX* tls) : fd_(fd), ssl_(tls ? ::SSL_new(tls) : nullptr, ::SSL_free) {}
  bool open() {
    return !ssl_ || (::SSL_set_fd(ssl_.get(), fd_) == 1 && ::SSL_accept(ssl_.get()) == 1);
  }
  // At most `size` bytes; 0 or less: none will come.
  long read(char* to, std::size_t size) {
    return ssl_ ? ::SSL_read(ssl_.get(), to, static_cast<int>(size)) : ::recv(fd_, to, size, 0);
  }
  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const long count = ssl_
                             ? ::SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                             : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  void pause_ms(int ms) {
    pollfd client{fd_, POLLIN, 0};
    ::poll(&client, 1, ms);
  }

 private:
  const int fd_;
  const std::unique_ptr<SSL, void (*)(SSL*)> ssl_;
};

class OneRequest : public Exchange {
 public:
  explicit OneRequest(Channel& channel) : channel_(channel) {}

  // False: the client has closed the connection.
  bool read() {
    std::string text;
    char byte = 0;
    while (!text.ends_with("\r\n\r\n")) {
      if (channel_.read(&byte, 1) <= 0) return false;
      text += byte;
    }
    const std::size_t space = text.find(' ');
    path_ = text.substr(space + 1, text.find(' ', space + 1) - space - 1);
    for (std::size_t at = text.find("\r\n") + 2; text.compare(at, 2, "\r\n") != 0;) {
      const std::size_t colon = text.find(':', at), end = text.find("\r\n", at);
      const std::size_t value = std::min(text.find_first_not_of(' ', colon + 1), end);
      headers_[lower_case(text.substr(at, colon - at))] = text.substr(value, end - value);
      at = end + 2;
    }
    return true;
  }

  const std::string& path() const override { return path_; }
  std::string header(std::string_view name) const override {
    const auto found = headers_.find(name);
    return found == headers_.end() ? "" : found->second;
  }
  bool send(std::string_view bytes) override { return channel_.write(bytes); }
  void pause_ms(int ms) override { channel_.pause_ms(ms); }
  void wait_for_end() override {
    char unused[256];
    while (channel_.read(unused, sizeof(unused)) > 0) {
    }
  }

 private:
  Channel& channel_;
  std::string path_;
  std::map<std::string, std::string, std::less<>> headers_;
};

void make_certificate(SSL_CTX* tls) {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(::EVP_EC_gen("P-256"), ::EVP_PKEY_free);
  const std::unique_ptr<X509, void (*)(X509*)> made(::X509_new(), ::X509_free);
  X509* const x = made.get();
  X509_NAME* const name = ::X509_get_subject_name(x);
  const std::unique_ptr<X509_EXTENSION, void (*)(X509_EXTENSION*)> addresses(
      ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1"),
      ::X509_EXTENSION_free);
  const auto* const common = reinterpret_cast<const unsigned char*>("origin");
  FIRN_CHECK(
      key && x && addresses && ::X509_set_version(x, 2) &&
      ::ASN1_INTEGER_set(::X509_get_serialNumber(x), 1) &&
      ::ASN1_TIME_set_string(::X509_getm_notBefore(x), "20200101000000Z") &&
      ::ASN1_TIME_set_string(::X509_getm_notAfter(x), "99991231235959Z") &&
      ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common, -1, -1, 0) &&
      ::X509_set_issuer_name(x, name) && ::X509_set_pubkey(x, key.get()) &&
      ::X509_add_ext(x, addresses.get(), -1) && ::X509_sign(x, key.get(), ::EVP_sha256()) > 0 &&
      ::SSL_CTX_use_certificate(tls, x) == 1 && ::SSL_CTX_use_PrivateKey(tls, key.get()) == 1);
}

}  // namespace

FaultyServer::FaultyServer(Answer answer, Speaks speaks)
    : answer_(std::move(answer)),
      speaks_(speaks),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      tls_(nullptr, ::SSL_CTX_free) {
  if (speaks_ == Speaks::kHttps) {
    tls_.reset(::SSL_CTX_new(::TLS_server_method()));
    FIRN_CHECK(tls_);
    make_certificate(tls_.get());
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  FIRN_CHECK(::bind(listener_.get(), any, size) == 0 && ::listen(listener_.get(), 64) == 0 &&
             ::getsockname(listener_.get(), any, &size) == 0);
  port_ = ::ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

FaultyServer::~FaultyServer() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    for (const UniqueFd& socket : sockets_) ::shutdown(socket.get(), SHUT_RDWR);
  }
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
}

void FaultyServer::accept_all() {
  while (true) {
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::lock_guard lock(mutex_);
    if (socket.get() < 0 || ends_) return;
    const int fd = socket.get(), now = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &now, sizeof(now));  // each piece as it is sent
    sockets_.push_back(std::move(socket));
    threads_.emplace_back([this, fd] { serve(fd); });
  }
}

void FaultyServer::serve(int fd) {
  {
    Channel channel(fd, tls_.get());
    for (bool stays = channel.open(); stays;) {
      OneRequest request(channel);
      if (!request.read()) break;
      count_request();
      stays = answer_(request);
    }
  }
  ::shutdown(fd, SHUT_RDWR);  // closed with the server: its number must not become another's before
}

std::string FaultyServer::url(const std::string& path) const {
  return (tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_) + path;
}

std::string FaultyServer::certificate() const {
  const std::unique_ptr<BIO, void (*)(BIO*)> memory(::BIO_new(::BIO_s_mem()), ::BIO_free_all);
  FIRN_CHECK(memory && ::PEM_write_bio_X509(memory.get(), ::SSL_CTX_get0_certificate(tls_.get())));
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

int FaultyServer::connections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(sockets_.size());
}

int FaultyServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void FaultyServer::count_request() {
  const std::lock_guard lock(mutex_);
  ++requests_;
}

bool serve_file(Exchange& exchange, std::string_view file, const std::string& etag) {
  using web::ByteRange;
  const bool changed = !exchange.header("if-match").empty() && exchange.header("if-match") != etag;
  if (changed)
    return exchange.send("HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n");
  const bool holds = web::range_holds(exchange.header("if-range"), etag);
  const ByteRange range = web::byte_range(holds ? exchange.header("range") : "", file.size());
  std::string head = range.kind == ByteRange::Kind::kWhole  ? "HTTP/1.1 200 OK\r\n"
                     : range.kind == ByteRange::Kind::kPart ? "HTTP/1.1 206 Partial Content\r\n"
                                                            : "HTTP/1.1 416 No Such Range\r\n";
  if (range.kind != ByteRange::Kind::kWhole)
    head += "Content-Range: " + web::content_range(range, file.size()) + "\r\n";
  if (!etag.empty()) head += "ETag: " + etag + "\r\n";
  head += "Content-Length: " + std::to_string(range.bytes) + "\r\n\r\n";
  return exchange.send(head) && exchange.send(file.substr(range.first, range.bytes));
}

}  // namespace firn::tests
