// What is wrong with a command line, and checks of values that both programs use.
#pragma once

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "proto/program/command_words.h"

namespace firn {

// For a command line that parse_words() has refused with `error`: what is wrong, with the program's
// name, and with the help to read: two lines, without a line end.
std::string usage_error(const CommandWords& words, const CLI::ParseError& error);

// Refuses an empty value: for options that name files and folders.
CLI::Validator not_empty();

// Refuses what is no number within these bounds, in words that are the same with every release of
// CLI11. `allowed`: what is taken; empty: "LOW to HIGH".
template <typename Number>
CLI::Validator between(Number low, Number high, std::string allowed = "") {
  if (allowed.empty()) {
    std::ostringstream text;
    text << low << " to " << high;
    allowed = text.str();
  }
  const auto refuse = [low, high, allowed = std::move(allowed)](const std::string& text) {
    std::istringstream from(text);
    Number number{};
    const bool whole = (from >> number) && from.peek() == std::istringstream::traits_type::eof();
    return whole && number >= low && number <= high ? "" : text + " is not " + allowed;
  };
  return CLI::Validator(refuse, "");
}

}  // namespace firn
