#include "tests/proto/document.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace firn::test {
namespace {

// What stands between the line "```kind name" and the next "```".
std::string block(const std::string& document_name, const std::string& heading) {
  const std::string text = document(document_name);
  const std::string opening = "\n```" + heading + "\n";
  const std::size_t at = text.find(opening);
  CAPTURE(heading);
  REQUIRE(at != std::string::npos);
  const std::size_t begin = at + opening.size();
  return text.substr(begin, text.find("\n```", begin) - begin);
}

}  // namespace

std::string document(const std::string& name) {
  std::ifstream file(std::string(FIRN_DOCS "/") + name);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string hex_example(const std::string& document_name, const std::string& name) {
  std::istringstream lines(block(document_name, "hex " + name));
  std::string hex;
  for (std::string line; std::getline(lines, line);)
    for (const char c : line.substr(0, line.find('|')))
      if (c != ' ') hex += c;
  return hex;
}

std::string text_example(const std::string& document_name, const std::string& name) {
  return block(document_name, "text " + name);
}

}  // namespace firn::test
