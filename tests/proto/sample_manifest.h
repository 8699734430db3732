// A small content for tests: three files (one empty), an empty folder and a link, in three
// generations, of which the first and the last are not full.
#pragma once

#include <string>
#include <vector>

#include "proto/base/digest.h"
#include "proto/content/manifest.h"
#include "tests/proto/wire_frames.h"

namespace firn::test {

// By position, as it is coded: deep/b.txt begins at a generation boundary; zeros pad blocks.
inline std::string sample_content() {
  return std::string("Hello, firn!\n\0\0\0snow of last year\n\0\0", 36);
}

inline Info sample_info() {
  Info info;
  info.name = "sample";
  info.files = {
      {.path = "a.txt", .bytes = 13, .mode = 0644, .modified_ns = 1'700'000'000'000'000'001},
      {.path = "deep/b.txt", .bytes = 18, .mode = 0755, .modified_ns = -1},
      {.path = "deep/empty", .bytes = 0, .mode = 0600, .modified_ns = 0},
      {.path = "nothing here", .mode = 0755, .kind = FileEntry::Kind::kFolder},
      {.path = "way", .mode = 0, .kind = FileEntry::Kind::kLink, .target = "deep/b.txt"},
  };
  info.shape = {.generation_size = 4, .block_bytes = 4, .content_bytes = 31};
  const std::string content = sample_content();
  const std::size_t offsets[] = {0, 16, 34};
  for (std::size_t i = 0; i < 3; ++i)
    info.files[i].digest = sha256(bytes_of(content.substr(offsets[i], info.files[i].bytes)));
  for (std::size_t at = 0; at < content.size(); at += 16)
    info.generation_digests.push_back(generation_digest(bytes_of(content.substr(at, 16)), 4));
  return info;
}

// An Info whose digests are made up: for rules that do not look at them.
inline Info info_of_shape(std::uint32_t generation_size, std::uint32_t block_bytes,
                          std::uint64_t content_bytes) {
  Info info;
  info.name = "file";
  info.single_file = true;
  info.files = {{.path = "", .bytes = content_bytes}};
  info.shape = {generation_size, block_bytes, content_bytes};
  const std::uint64_t per_generation = info.shape.generation_bytes();
  if (per_generation > 0 && content_bytes / per_generation <= (1u << 20))
    info.generation_digests.resize(info.shape.generation_count());
  return info;
}

}  // namespace firn::test
