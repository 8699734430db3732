#include "tests/sim/lab/arguments.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace firn::sim {

Arguments::Arguments(std::string program, int argc, char** argv) : program_(std::move(program)) {
  for (int i = 1; i < argc; ++i) add(argv[i]);
}

Arguments::Arguments(std::string program, const std::string& words) : program_(std::move(program)) {
  std::istringstream in(words);
  for (std::string word; in >> word;) add(word);
}

void Arguments::add(const std::string& word) {
  const std::size_t at = word.find('=');
  if (at == std::string::npos) fail("not KEY=VALUE: " + word);
  given_[word.substr(0, at)] = word.substr(at + 1);
}

std::string Arguments::text(const std::string& key, const std::string& otherwise) {
  const auto it = given_.find(key);
  const std::string value = it == given_.end() ? otherwise : it->second;
  if (it != given_.end()) given_.erase(it);
  used_[key] = value;
  return value;
}

double Arguments::number(const std::string& key, const std::string& otherwise) {
  const std::string value = text(key, otherwise);
  char* end = nullptr;
  const double parsed = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0') fail(key + " is no number: " + value);
  return parsed;
}

std::vector<double> Arguments::list(const std::string& key, const std::string& otherwise,
                                    char between) {
  std::vector<double> result;
  std::string rest = text(key, otherwise);
  for (bool more = true; more;) {
    const std::size_t at = rest.find(between);
    more = at != std::string::npos;
    result.push_back(std::atof(rest.substr(0, at).c_str()));
    if (more) rest = rest.substr(at + 1);
  }
  return result;
}

const std::map<std::string, std::string>& Arguments::all() const {
  if (!given_.empty()) fail("unknown key: " + given_.begin()->first);
  return used_;
}

void Arguments::fail(const std::string& what) const {
  std::fprintf(stderr, "%s: %s\n", program_.c_str(), what.c_str());
  std::exit(2);
}

}  // namespace firn::sim
