#include "client/app/console/columns.h"

#include <clocale>
#include <cwchar>

namespace firn::app {
namespace {

// The thread's locale is one that knows UTF-8, as long as this lives; the program's own is "C".
class Utf8Locale {
 public:
  Utf8Locale() : before_(uselocale(known())) {}
  ~Utf8Locale() { uselocale(before_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  // Null where the system has none: then every byte is a character.
  static locale_t known() {
    static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return utf8;
  }
  const locale_t before_;
};

struct Character {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

Character first_of(std::string_view text) {
  wchar_t letter = 0;
  std::mbstate_t state{};
  const std::size_t bytes = std::mbrtowc(&letter, text.data(), text.size(), &state);
  if (bytes == 0 || bytes > text.size()) return {};
  const int columns = wcwidth(letter);
  return {bytes, columns < 0 ? 1 : static_cast<std::size_t>(columns)};
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  const Utf8Locale locale;
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character one = first_of(text);
    columns += one.columns;
    text.remove_prefix(one.bytes);
  }
  return columns;
}

std::string cut(std::string_view text, std::size_t columns) {
  const Utf8Locale locale;
  std::size_t end = 0;
  while (end < text.size()) {
    const Character next = first_of(text.substr(end));
    if (next.columns > columns) break;
    columns -= next.columns;
    end += next.bytes;
  }
  return std::string(text.substr(0, end));
}

}  // namespace firn::app
