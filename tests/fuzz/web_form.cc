// What a browser may send as a form, its type and body: read as fields or refused, in bounds; what
// is shown of it as HTML holds no markup.
#include <algorithm>
#include <string>

#include "proto/base/percent.h"
#include "proto/base/result.h"
#include "proto/web/form.h"
#include "proto/web/markup.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::web_form {
FIRN_FUZZ_TARGET(web_form) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  web::Request request;
  const std::size_t line = std::min(text.find('\n'), text.size());
  request.content_type = std::string(text.substr(0, line));
  request.body = std::string(text.substr(std::min(line + 1, text.size())));
  std::size_t bytes = 0;
  if (const auto fields = web::parse_form(request)) {
    FIRN_CHECK(fields->size() <= web::kFieldsMax);
    for (const auto& [name, value] : *fields) {
      bytes += name.size() + value.size();
      FIRN_CHECK(web::html(value).find_first_of("<>\"'\n") == std::string::npos);
      FIRN_CHECK(percent_decode(percent_encode(value)) == value);
    }
  }
  FIRN_CHECK(bytes <= size);
  (void)percent_decode(text);
  return 0;
}

}  // namespace firn::fuzz::web_form
