// A request of HTTP as a handler sees it, and what is answered.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/base/result.h"

namespace firn::web {

// Names and values of a query or a form, decoded, in the order in which they came.
using Fields = std::vector<std::pair<std::string, std::string>>;

// The first value of that name; null: there is none.
inline const std::string* find_field(const Fields& fields, std::string_view name) {
  for (const auto& [field, value] : fields)
    if (field == name) return &value;
  return nullptr;
}

enum class Method { kGet, kPost };

struct Request {
  Method method = Method::kGet;
  bool head_only = false;  // HEAD: a GET of which the body is not sent
  std::string path;        // decoded, begins with '/'
  Fields query;
  std::string body;
  std::string client;  // numeric address of the other side
  // Headers; empty where they did not come.
  std::string host;
  std::string origin;
  std::string cookie;
  std::string authorization;
  std::string content_type;
  std::string range;
  std::string if_range;
};

// A body that is read as its connection takes it. On the server's thread, also its end: when it has
// left, or its connection has ended.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // Copies the next bytes, at most out.size(). 0: the next ones have not come yet, and
  // HttpServer::resume() says when they may have. After an error the connection is closed.
  virtual Result<std::size_t> read(std::span<std::uint8_t> out) = 0;
};

struct Response {
  int status = 200;
  std::string content_type = "text/html; charset=utf-8";
  std::string body;
  // In place of `body`, where source_bytes is not 0; not needed for what was asked for by HEAD.
  std::shared_ptr<BodySource> source = nullptr;
  std::uint64_t source_bytes = 0;  // that it gives, all in all
  Fields headers;                  // one that all pages have is replaced
  std::string location;            // of a redirection
  std::string set_cookie;          // the whole value of the header
  bool cacheable = false;          // it is the same for everybody, and for the life of this process
  // Server-sent events: the response does not end; text follows with HttpServer::push().
  bool stream = false;
  std::chrono::milliseconds delay{0};  // before it is sent
};

inline Response plain_response(int status, std::string text) {
  Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(text) + "\n";
  return response;
}

inline Response redirection(std::string location) {
  Response response;
  response.status = 303;  // RFC 9110, 15.4.4: GET follows a POST
  response.location = std::move(location);
  return response;
}

}  // namespace firn::web
