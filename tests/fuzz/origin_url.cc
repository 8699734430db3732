// The URL of an origin, and behind a line end the path of a file below it: what is read is written
// so that it is read the same again, shows no secret, and goes where it says.
#include "proto/content/origin_url.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "client/app/origin/origin_access.h"
#include "client/app/origin/proxy_choice.h"
#include "proto/base/limits.h"
#include "proto/base/plain_text.h"
#include "proto/content/manifest.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::origin_url {
using namespace firn::app;

void check_text(const OriginUrl& url) {
  const auto again = parse_origin(url.text());
  FIRN_CHECK(again && again->text() == url.text() && again->same_host(url));
  FIRN_CHECK(again->user().empty() && again->password().empty());
  for (const std::string& text : {url.text(), url.shown()})
    FIRN_CHECK(std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; }) &&
               text.find_first_of("#\\\"<>") == std::string::npos);
  const auto shown = parse_origin(url.shown());
  FIRN_CHECK(shown && shown->same_host(url) && shown->path() == url.path());
}

FIRN_FUZZ_TARGET(origin_url) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\n'), text.size());
  (void)check_header(text);
  if (check_origin_text(text)) FIRN_CHECK(parse_origin(text).ok());
  const auto url = parse_origin(text.substr(0, end));
  if (!url) return 0;
  check_text(*url);
  if (const auto name = url->name()) FIRN_CHECK(check_content_path(*name));
  OriginAccess access;
  access.region = text.substr(std::min(end + 1, text.size()));
  if (const auto request = request_url(*url, access)) {
    FIRN_CHECK(request->scheme() != OriginUrl::Scheme::kS3);
    check_text(*request);
    (void)proxy_for(*request, [&](const char* name) {
      return std::string_view(name) == "no_proxy" ? access.region : std::string("proxy");
    });
  }
  if (!url->is_folder() || !check_content_path(access.region)) return 0;
  const OriginUrl file = url->file(access.region);
  FIRN_CHECK(file.same_host(*url) && file.path().starts_with(url->path()) && !file.is_folder());
  if (file.text().size() <= limits::kOriginBytesMax) check_text(file);
  const std::size_t slash = access.region.rfind('/');
  const std::string last = access.region.substr(slash == std::string::npos ? 0 : slash + 1);
  if (const auto name = file.name()) FIRN_CHECK(*name == last);
  return 0;
}

}  // namespace firn::fuzz::origin_url
