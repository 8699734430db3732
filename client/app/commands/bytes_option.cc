#include "client/app/commands/bytes_option.h"

#include "client/app/console/quantities.h"

namespace firn::app {

CLI::Option* add_bytes_option(CLI::App& app, const std::string& name, std::uint64_t& bytes,
                              const std::string& description) {
  const auto to_digits = [](std::string& text) -> std::string {
    const auto size = parse_size(text);
    if (!size.ok()) return size.error().message();
    text = std::to_string(*size);
    return {};
  };
  return app.add_option(name, bytes, description)
      ->transform(CLI::Validator(to_digits, ""))
      ->option_text("SIZE");
}

}  // namespace firn::app
