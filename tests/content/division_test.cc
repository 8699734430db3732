#include "client/content/division.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

namespace firn::content {
namespace {

// Random files, a third of them empty, under a random small shape.
Info random_info(std::mt19937_64& random) {
  Info info;
  info.name = "content";
  std::uint64_t offset = 0;
  const std::uint64_t count = random() % 12;
  for (std::uint64_t i = 0; i < count; ++i) {
    FileEntry entry;
    entry.path = std::to_string(i);
    entry.bytes = random() % 3 == 0 ? 0 : random() % 400;
    if (entry.bytes == 0 && random() % 2 == 0) entry.kind = FileEntry::Kind::kFolder;
    entry.offset = offset;
    offset += entry.bytes;
    info.files.push_back(entry);
  }
  info.shape = {static_cast<std::uint32_t>(1 + random() % 8),
                static_cast<std::uint32_t>(1 + random() % 32), offset};
  return info;
}

// The file that holds a content byte, the slow and obvious way.
std::uint32_t file_of(const Info& info, std::uint64_t at) {
  for (std::uint32_t i = 0; i < info.files.size(); ++i) {
    if (at >= info.files[i].offset && at - info.files[i].offset < info.files[i].bytes) return i;
  }
  return UINT32_MAX;
}

TEST_CASE("spans cover any range of the content once, in order, byte for byte") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 500; ++round) {
    const Info info = random_info(random);
    const std::uint64_t total = info.shape.content_bytes;
    const std::uint64_t offset = total == 0 ? 0 : random() % total;
    const std::uint64_t bytes = total == 0 ? 0 : random() % (total - offset + 1);
    std::uint64_t at = offset;
    for (const FileSpan& span : spans_of(info, offset, bytes)) {
      CHECK(span.content_offset == at);
      CHECK(span.bytes > 0);
      CHECK(span.file == file_of(info, at));
      CHECK(span.file_offset == at - info.files[span.file].offset);
      CHECK(span.file_offset + span.bytes <= info.files[span.file].bytes);
      at += span.bytes;
    }
    CHECK(at == offset + bytes);
  }
}

TEST_CASE("an empty range has no spans, also between files and in an empty content") {
  Info info;
  CHECK(spans_of(info, 0, 0).empty());
  info.files.resize(2);
  info.files[0].bytes = 10;
  info.files[1].bytes = 10;
  info.files[1].offset = 10;
  info.shape = {2, 4, 20};
  CHECK(spans_of(info, 10, 0).empty());
  CHECK(spans_of(info, 20, 0).empty());
}

TEST_CASE("a file's generations are those whose spans name it") {
  std::mt19937_64 random(12);
  for (int round = 0; round < 300; ++round) {
    const Info info = random_info(random);
    for (std::uint32_t file = 0; file < info.files.size(); ++file) {
      const GenerationRange range = generations_of(info, file);
      for (std::uint32_t g = 0; g < info.shape.generation_count(); ++g) {
        const auto spans =
            spans_of(info, g * info.shape.generation_bytes(), info.shape.bytes_in_generation(g));
        const bool named = std::any_of(spans.begin(), spans.end(),
                                       [&](const FileSpan& s) { return s.file == file; });
        CHECK(named == (g >= range.first && g < range.last));
      }
      if (info.files[file].bytes == 0) CHECK(range.first == range.last);
    }
  }
}

TEST_CASE(
    "a generation is wanted if it holds a byte of a chosen file, and all are if all are chosen") {
  std::mt19937_64 random(13);
  for (int round = 0; round < 300; ++round) {
    const Info info = random_info(random);
    std::vector<bool> chosen(info.files.size());
    for (std::size_t file = 0; file < chosen.size(); ++file) chosen[file] = random() % 3 == 0;
    const std::vector<bool> wanted = wanted_generations(info, chosen);
    std::vector<std::uint64_t> bytes(info.files.size(), 0);
    for (std::uint32_t g = 0; g < info.shape.generation_count(); ++g) {
      bool holds = all_chosen(chosen);
      const auto spans =
          spans_of(info, g * info.shape.generation_bytes(), info.shape.bytes_in_generation(g));
      for (const FileSpan& span : spans) holds = holds || chosen[span.file];
      CHECK(wanted[g] == holds);
      for (const FileSpan& span : spans) bytes[span.file] += holds ? span.bytes : 0;
    }
    for (std::uint32_t file = 0; file < info.files.size(); ++file)
      CHECK(bytes_in(info, file, wanted) == bytes[file]);
    const std::vector<bool> all(info.shape.generation_count(), true);
    CHECK(wanted_generations(info, {}) == all);
    CHECK(wanted_generations(info, std::vector<bool>(info.files.size(), true)) == all);
  }
}

TEST_CASE("offsets beyond 4 GiB keep all their bits") {
  Info info;
  info.files.resize(2);
  info.files[0].bytes = 5'000'000'000;
  info.files[1].offset = 5'000'000'000;
  info.files[1].bytes = 7'000'000'000;
  info.shape = {64, 16384, 12'000'000'000};
  const auto spans = spans_of(info, 4'999'999'990, 20);
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].file_offset == 4'999'999'990);
  CHECK(spans[0].bytes == 10);
  CHECK(spans[1].file_offset == 0);
  CHECK(generations_of(info, 1).first == 5'000'000'000 / (64 * 16384));
  CHECK(generations_of(info, 1).last == info.shape.generation_count());
}

}  // namespace
}  // namespace firn::content
