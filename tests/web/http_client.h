// A client of HTTP/1.1 that takes little at a time, as a player that rests does.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/base/unique_fd.h"

namespace firn::test {

class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int small = 4096;
    (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  }
  // `headers`: lines with their ends.
  void ask(const std::string& method, const std::string& path, const std::string& headers = "") {
    const std::string host =
        headers.find("Host: ") == std::string::npos ? "Host: localhost\r\n" : "";
    const std::string text = method + " " + path + " HTTP/1.1\r\n" + host + headers + "\r\n";
    REQUIRE(::send(socket_.get(), text.data(), text.size(), 0) ==
            static_cast<ssize_t>(text.size()));
  }
  std::string head() {
    while (text_.find("\r\n\r\n") == std::string::npos)
      if (!receive()) break;
    const std::size_t end = std::min(text_.find("\r\n\r\n"), text_.size() - 4) + 4;
    std::string head = text_.substr(0, end);
    text_.erase(0, end);
    return head;
  }
  // Fewer where the connection ends before.
  std::string body(std::size_t bytes) {
    while (text_.size() < bytes)
      if (!receive()) break;
    std::string body = text_.substr(0, bytes);
    text_.erase(0, body.size());
    return body;
  }

 private:
  bool receive() {
    std::vector<char> part(64 << 10);
    const ssize_t got = ::recv(socket_.get(), part.data(), part.size(), 0);
    if (got > 0) text_.append(part.data(), static_cast<std::size_t>(got));
    return got > 0;
  }

  const UniqueFd socket_;
  std::string text_;
};

}  // namespace firn::test
