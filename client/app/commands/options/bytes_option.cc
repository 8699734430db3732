#include "client/app/commands/options/bytes_option.h"

#include "client/app/console/quantities.h"

namespace firn::app {
namespace {

using Parse = Result<std::uint64_t> (*)(std::string_view text);

template <Parse kParse>
std::string to_digits(std::string& text) {
  const auto bytes = kParse(text);
  if (!bytes.ok()) return bytes.error().message();
  text = std::to_string(*bytes);
  return {};
}

}  // namespace

CLI::Option* add_bytes_option(CLI::App& app, const std::string& name, std::uint64_t& bytes,
                              const std::string& description) {
  return app.add_option(name, bytes, description)
      ->transform(CLI::Validator(to_digits<parse_size>, ""))
      ->option_text("SIZE");
}

CLI::Option* add_rate_option(CLI::App& app, const std::string& name, std::uint64_t& rate,
                             const std::string& description) {
  return app.add_option(name, rate, description)
      ->transform(CLI::Validator(to_digits<parse_rate>, ""))
      ->option_text("RATE");
}

}  // namespace firn::app
