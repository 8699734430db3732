#include "tests/store/sample_content.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "proto/base/digest.h"
#include "proto/content/content_layout.h"

namespace firn::store::test {

std::vector<std::uint8_t> Sample::generation(std::uint32_t g) const {
  std::vector<std::uint8_t> data(shape().padded_bytes(g));
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(g * shape().generation_bytes());
  std::copy_n(begin, shape().bytes_in_generation(g), data.begin());
  return data;
}

std::vector<std::uint8_t> Sample::file(std::uint32_t index) const {
  const FileEntry& entry = info().files.at(index);
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(entry.offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(entry.bytes)};
}

Sample make_sample(const std::string& name, const std::vector<SampleFile>& files,
                   std::uint32_t generation_size, std::uint32_t block_bytes, std::uint64_t seed) {
  Sample sample;
  Info info;
  info.name = name;
  info.single_file = files.size() == 1 && files[0].path.empty();
  std::uint64_t sum = 0;
  for (const SampleFile& file : files) {
    FileEntry entry;
    entry.path = file.path;
    entry.bytes = file.bytes;
    entry.kind = !file.target.empty() ? FileEntry::Kind::kLink
                 : file.directory     ? FileEntry::Kind::kFolder
                                      : FileEntry::Kind::kFile;
    entry.target = file.target;
    entry.mode = file.directory ? 0750 : 0640;
    entry.modified_ns = 1'600'000'000'123'456'789 + static_cast<std::int64_t>(sum) * 1'000'000'000;
    sum += file.bytes;
    info.files.push_back(entry);
  }
  info.shape = {generation_size, block_bytes, sum};
  lay_out(info);
  std::mt19937_64 random(seed);
  for (FileEntry& entry : info.files) {
    sample.bytes.resize(entry.offset + entry.bytes);
    for (std::uint64_t i = 0; i < entry.bytes; ++i)
      sample.bytes[entry.offset + i] = static_cast<std::uint8_t>(random());
    if (entry.kind == FileEntry::Kind::kFile)
      entry.digest = sha256(std::span(sample.bytes).subspan(entry.offset, entry.bytes));
  }
  sample.manifest.info = info;  // for generation()
  for (std::uint32_t g = 0; g < info.shape.generation_count(); ++g) {
    info.generation_digests.push_back(generation_digest(sample.generation(g), block_bytes));
  }
  Result<Manifest> manifest = make_manifest(info, {});
  FIRN_CHECK(manifest.ok());
  sample.manifest = *manifest;
  return sample;
}

std::pair<SpooledRow, std::vector<std::uint8_t>> sample_row(const Sample& sample,
                                                            std::uint32_t generation,
                                                            std::uint32_t slot) {
  std::mt19937_64 random(generation * 100'003ull + slot);
  SpooledRow row;
  row.generation = generation;
  row.slot = slot;
  row.vector.resize(sample.shape().blocks_in(generation));
  for (std::uint8_t& byte : row.vector) byte = static_cast<std::uint8_t>(random());
  for (std::uint8_t& byte : row.sender.bytes) byte = static_cast<std::uint8_t>(random());
  row.standing = static_cast<Standing>(random() % 3);
  std::vector<std::uint8_t> payload(sample.shape().block_bytes);
  for (std::uint8_t& byte : payload) byte = static_cast<std::uint8_t>(random());
  return {row, payload};
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "firn-store-XXXXXX").string();
  FIRN_CHECK(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::path(const std::string& below) const {
  return below.empty() ? path_ : path_ + "/" + below;
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_file(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

}  // namespace firn::store::test
