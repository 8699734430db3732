#include "proto/web/door.h"

#include "proto/web/form.h"
#include "proto/web/frame.h"

namespace firn::web {
namespace {

constexpr std::size_t kLoginBytesMax = 1024;

}  // namespace

std::size_t Door::body_bytes_max(const Request& head) {
  if (head.path == "/login" || head.path == "/logout") return kLoginBytesMax;
  return access_.judge(head) == Access::Verdict::kAllowed ? pages_.body_bytes_max(head)
                                                          : kLoginBytesMax;
}

void Door::request(ExchangeId id, Request request) {
  if (!access_.meant_for_us(request))
    return server_.reply(id, plain_response(403, "the Host or Origin is not this server's"));
  if (serve_file(id, request)) return;
  if (pages_.open_to_all(request)) return pages_.request(id, std::move(request));
  if (request.method == Method::kPost && request.path == "/login") return sign_in(id, request);
  const Access::Verdict verdict = access_.judge(request);
  if (verdict == Access::Verdict::kForeign)
    return server_.reply(id, plain_response(403, "a browser names the Origin of what it posts"));
  if (verdict == Access::Verdict::kReader) {
    if (pages_.open_to_readers(request)) return pages_.request(id, std::move(request));
    return server_.reply(id, plain_response(403, "this token is not for that"));
  }
  if (verdict != Access::Verdict::kAllowed)
    return refuse(id, request, verdict == Access::Verdict::kWrongToken);
  if (request.method == Method::kPost && request.path == "/logout") {
    Response response = redirection("/");
    response.set_cookie = access_.forget_cookie();
    return server_.reply(id, std::move(response));
  }
  pages_.request(id, std::move(request));
}

bool Door::serve_file(ExchangeId id, const Request& request) {
  Response response;
  response.cacheable = true;
  if (request.path == "/page.css") {
    response.content_type = "text/css; charset=utf-8";
    response.body = style_sheet();
  } else if (request.path == "/page.js") {
    response.content_type = "text/javascript; charset=utf-8";
    response.body = script();
  } else {
    return false;
  }
  server_.reply(id, std::move(response));
  return true;
}

// A login form of another site would sign a browser in with a token of that site's choice: the
// Origin was judged with the Host.
void Door::sign_in(ExchangeId id, const Request& request) {
  const auto fields = parse_form(request);
  const std::string* const token = fields ? find_field(*fields, "token") : nullptr;
  if (token == nullptr || !access_.is_token(*token)) return refuse(id, request, true);
  Response response = redirection("/");
  response.set_cookie = access_.set_cookie();
  server_.reply(id, std::move(response));
}

void Door::refuse(ExchangeId id, const Request& request, bool wrong) {
  const bool page = request.authorization.empty() && request.path != "/rpc";
  Response response = page ? Response{} : plain_response(401, "the right token is needed");
  response.status = 401;
  if (page) response.body = sign_in_page(program_, wrong);
  if (wrong) {
    response.delay = kWrongTokenDelay;
    if (!std::exchange(warned_, true))
      warn_("HTTP: a request from " + request.client +
            " came with a wrong token; further ones are refused without a word");
  }
  server_.reply(id, std::move(response));
}

}  // namespace firn::web
