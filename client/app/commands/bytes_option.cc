#include "client/app/commands/bytes_option.h"

#include <charconv>

namespace firn::app {
namespace {

// What CLI11 would read with less care: a sign wraps round, a lone unit counts as one, and digits
// past 64 bits saturate.
std::string starts_with_number(std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{}) return {};
  return error == std::errc::result_out_of_range ? text + " is too large"
                                                 : "'" + text + "' does not start with a number";
}

}  // namespace

CLI::Option* add_bytes_option(CLI::App& app, const std::string& name, std::uint64_t& bytes,
                              const std::string& description) {
  return app.add_option(name, bytes, description)
      ->transform(CLI::AsSizeValue(false).description("SIZE"))
      ->transform(CLI::Validator(starts_with_number, ""))  // the last one added runs first
      ->option_text("SIZE");
}

}  // namespace firn::app
