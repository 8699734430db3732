// A configuration file: TOML 1.0 (toml.io), with the long options of a program as its keys.
//
// A key at the top is for every command that has the option; a key of a table is for the command of
// that name, [get], or for those below it, [bench] and [bench.codec]. config_keys.h checks
// keys, configuration.h values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/base/result.h"

namespace firn {

// A key with its value, or a table.
struct ConfigEntry {
  enum class Kind {
    kSwitch,  // true or false
    kValue,   // a text or a number
    kList,    // of texts and numbers
    kTable,
    kOther,  // a date, or a list of what no list of options can hold
  };

  std::vector<std::string> path;  // tables from the outermost on, then the key; never empty
  Kind kind = Kind::kOther;
  std::vector<std::string> values;  // as they would stand on a command line
  std::uint32_t line = 0;           // from 1

  const std::string& key() const { return path.back(); }
};

struct ConfigFile {
  std::string path;
  std::vector<ConfigEntry> entries;  // in the order of lines

  // "/etc/firn/config.toml:3", for people.
  std::string place(std::uint32_t line) const;
};

constexpr std::size_t kConfigBytesMax = 64 << 10;

// Errors: kBadInput (no TOML, with the line; more than kConfigBytesMax; tables too deep).
Result<ConfigFile> parse_config(const std::string& path, const std::string& text);

// Errors: as parse_config and read_trusted_file.
Result<ConfigFile> read_config_file(const std::string& path);

}  // namespace firn
