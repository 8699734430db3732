// A content of random files, as a manifest describes it and as an origin has it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "proto/content/content_layout.h"
#include "proto/content/manifest.h"
#include "proto/content/origin_url.h"

namespace firn::tests {

struct MadeContent {
  Info info;
  std::vector<std::string> files;  // the bytes of each of info.files

  // What is coded and hashed as generation g, found byte by byte.
  std::string generation(std::uint32_t g) const {
    std::string bytes(info.shape.padded_bytes(g), '\0');
    const std::uint64_t begin = g * info.shape.generation_bytes();
    for (std::size_t f = 0; f < files.size(); ++f) {
      for (std::uint64_t i = 0; i < files[f].size(); ++i) {
        const std::uint64_t at = info.files[f].offset + i;
        if (at >= begin && at - begin < info.shape.bytes_in_generation(g))
          bytes[at - begin] = files[f][i];
      }
    }
    return bytes;
  }
};

inline OriginUrl url_of(const std::string& text) {
  auto parsed = parse_origin(text);
  REQUIRE(parsed.ok());
  return *parsed;
}

// Lays these files out; their paths are "0", "sub 1/1", "2", ...
inline MadeContent content_of(std::vector<std::string> files, std::uint32_t generation_size,
                              std::uint32_t block_bytes) {
  MadeContent made;
  made.info.name = "made up";
  made.info.shape.generation_size = generation_size;
  made.info.shape.block_bytes = block_bytes;
  for (std::size_t i = 0; i < files.size(); ++i) {
    FileEntry entry;
    entry.path = (i % 2 == 1 ? "sub " + std::to_string(i) + "/" : "") + std::to_string(i);
    entry.bytes = files[i].size();
    made.info.shape.content_bytes += entry.bytes;
    made.info.files.push_back(entry);
  }
  made.files = std::move(files);
  lay_out(made.info);
  return made;
}

inline std::string random_bytes(std::mt19937_64& random, std::size_t count) {
  std::string bytes(count, '\0');
  std::ranges::generate(bytes, [&] { return static_cast<char>(random()); });
  return bytes;
}

// Files smaller than a generation and larger, with empty files, folders and links among them.
inline MadeContent random_content(std::mt19937_64& random) {
  std::vector<std::string> files;
  const std::uint64_t count = 1 + random() % 12;
  for (std::uint64_t i = 0; i < count; ++i)
    files.push_back(random_bytes(random, random() % 4 == 0 ? 0 : 1 + random() % 300));
  files.push_back(random_bytes(random, 1 + random() % 50));
  MadeContent made = content_of(std::move(files), static_cast<std::uint32_t>(1 + random() % 8),
                                static_cast<std::uint32_t>(1 + random() % 24));
  for (FileEntry& entry : made.info.files) {
    if (entry.bytes > 0) continue;
    entry.kind = static_cast<FileEntry::Kind>(random() % 3);
    if (entry.kind == FileEntry::Kind::kLink) entry.target = "elsewhere";
  }
  return made;
}

}  // namespace firn::tests
