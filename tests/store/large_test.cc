// More than 4 GiB, of which few generations are written: the rest stays a hole.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "client/store/content_store.h"
#include "proto/base/digest.h"
#include "proto/content/content_layout.h"
#include "tests/store/sample_content.h"

namespace firn::store::large_test {
namespace {

constexpr std::uint64_t kFour = 4ull << 30;
constexpr std::uint32_t kN = 64, kK = 16 << 10;                        // generations of 1 MiB
constexpr std::uint32_t kBelow = 4095, kAcross = 4096, kAbove = 4097;  // of the 4 GiB

// Bytes of no pattern, zeros where the content ends.
std::vector<std::uint8_t> generation(const Shape& shape, std::uint32_t g) {
  std::vector<std::uint8_t> data(shape.padded_bytes(g));
  std::uint32_t state = g * 2'654'435'761u + 1;
  for (std::uint64_t i = 0; i < shape.bytes_in_generation(g); ++i)
    data[i] = static_cast<std::uint8_t>((state = state * 1'664'525u + 1'013'904'223u) >> 24);
  return data;
}

// One file past 4 GiB, and two behind it whose offsets in the content are. The digests are true for
// the generations that are written; the test looks at no others.
Manifest large_manifest() {
  Info info;
  info.name = "large";
  info.files = {{.path = "a", .bytes = kFour + 1},
                {.path = "b", .bytes = 5000},
                {.path = "c", .bytes = 2 << 20}};
  info.shape = {kN, kK, kFour + 1 + 5000 + (2 << 20)};
  lay_out(info);
  info.generation_digests.resize(info.shape.generation_count());
  for (const std::uint32_t g : {0u, kBelow, kAcross, kAbove})
    info.generation_digests[g] = generation_digest(generation(info.shape, g), kK);
  return make_manifest(info, {}).value();
}

std::string bytes_at(const std::string& path, std::uint64_t offset, std::size_t count) {
  std::ifstream stream(path, std::ios::binary);
  std::string bytes(count, '\0');
  stream.seekg(static_cast<std::streamoff>(offset));
  stream.read(bytes.data(), static_cast<std::streamsize>(count));
  REQUIRE(stream.good());
  return bytes;
}

std::string slice(const std::vector<std::uint8_t>& data, std::size_t from, std::size_t count) {
  return {data.begin() + static_cast<std::ptrdiff_t>(from),
          data.begin() + static_cast<std::ptrdiff_t>(from + count)};
}

TEST_CASE("generations on both sides of 4 GiB are written, found again and served") {
  const Manifest manifest = large_manifest();
  const Shape& shape = manifest.info.shape;
  REQUIRE(shape.generation_count() == kAbove + 2);
  const test::TemporaryFolder dir;
  const std::uint32_t written[] = {0, kBelow, kAcross, kAbove};
  Resumed resumed;
  {
    auto store = ContentStore::open_download(manifest, dir.path(), test::kOptions, resumed);
    REQUIRE(store.ok());
    for (const std::uint32_t g : written)
      REQUIRE((*store)->write_generation(g, generation(shape, g)).ok());
    REQUIRE((*store)->sync().ok());
  }
  auto store = ContentStore::open_download(manifest, dir.path(), test::kOptions, resumed);
  REQUIRE(store.ok());
  std::vector<std::uint8_t> out;
  std::vector<bool> expected(shape.generation_count());
  for (const std::uint32_t g : written) {
    expected[g] = true;
    out.resize(shape.padded_bytes(g));
    REQUIRE((*store)->read_generation(g, out).ok());  // which checks the digest
    CHECK(out == generation(shape, g));
  }
  CHECK(resumed.verified == expected);

  // Where they stand: a's last byte and b are in the generation that begins at 4 GiB.
  const std::string a = dir.path(".firn/" + manifest.id.text() + "/data/a");
  CHECK(std::filesystem::file_size(a) == kFour + 1);
  CHECK(bytes_at(a, kFour - (1 << 20), 1 << 20) == slice(generation(shape, kBelow), 0, 1 << 20));
  CHECK(bytes_at(a, kFour, 1) == slice(generation(shape, kAcross), 0, 1));
  CHECK(bytes_at(dir.path("large/b"), 0, 5000) == slice(generation(shape, kAcross), 1, 5000));
  // Little of it is there.
  struct stat status;
  REQUIRE(::stat(a.c_str(), &status) == 0);
  CHECK(status.st_blocks * 512 < (16 << 20));
}

}  // namespace
}  // namespace firn::store::large_test
