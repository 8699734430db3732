#include "client/app/origin/origin_pieces.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/app/origin/made_content.h"

namespace firn::app {
namespace {

using tests::MadeContent;

std::string without_padding(const MadeContent& made, std::uint32_t first, std::uint32_t count) {
  std::string bytes;
  for (std::uint32_t g = first; g < first + count; ++g)
    bytes += made.generation(g).substr(0, made.info.shape.bytes_in_generation(g));
  return bytes;
}

TEST_CASE("the pieces of any run are its bytes, in order, and each file is asked for once") {
  std::mt19937_64 random(5);
  int with_holes = 0;
  for (int round = 0; round < 300; ++round) {
    const MadeContent made = tests::random_content(random);
    const std::uint32_t all = made.info.shape.generation_count();
    const auto first = static_cast<std::uint32_t>(random() % all);
    const auto count = static_cast<std::uint32_t>(1 + random() % (all - first));
    with_holes += made.info.shape.filled != nullptr;
    std::string bytes;
    std::set<std::uint32_t> files;
    for (const OriginPiece& piece : origin_pieces(made.info, first, count)) {
      CHECK(piece.at == bytes.size());
      CHECK(piece.range.count > 0);
      CHECK(files.insert(piece.file).second);
      const std::string& file = made.files[piece.file];
      REQUIRE(piece.range.first + piece.range.count <= file.size());
      bytes += file.substr(piece.range.first, piece.range.count);
    }
    CHECK(bytes == without_padding(made, first, count));
  }
  CHECK(with_holes > 50);
}

TEST_CASE("generations of one file are one piece") {
  const MadeContent made = tests::content_of({std::string(1000, 'x')}, 4, 10);
  const auto pieces = origin_pieces(made.info, 2, 20);
  REQUIRE(pieces.size() == 1);
  CHECK(pieces[0].range == FileRange{80, 800});
}

TEST_CASE("the files of a folder lie below the origin's URL under their paths") {
  const MadeContent made = tests::content_of({"a", "b"}, 4, 10);
  const OriginUrl folder = tests::url_of("https://host.example/data/");
  CHECK(check_origin_fits(folder, made.info).ok());
  CHECK(origin_file(folder, made.info, 0).text() == "https://host.example/data/0");
  CHECK(origin_file(folder, made.info, 1).text() == "https://host.example/data/sub%201/1");
  const Status refused =
      check_origin_fits(tests::url_of("https://host.example/data?sig=secret"), made.info);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kBadInput);
  CHECK(refused.error().message().find("ends in '/'") != std::string::npos);
  CHECK(refused.error().message().find("secret") == std::string::npos);
}

TEST_CASE("a single file is the origin's URL itself, or lies below it under its name") {
  MadeContent made = tests::content_of({"a"}, 4, 10);
  made.info.single_file = true;
  made.info.files[0].path.clear();
  const OriginUrl file = tests::url_of("https://host.example/other-name.bin?version=2");
  CHECK(check_origin_fits(file, made.info).ok());
  CHECK(origin_file(file, made.info, 0) == file);
  CHECK(origin_file(tests::url_of("https://host.example/x/"), made.info, 0).text() ==
        "https://host.example/x/made%20up");
}

}  // namespace
}  // namespace firn::app
