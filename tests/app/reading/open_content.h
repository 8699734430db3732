// A content that comes generation by generation into a real store, and can be read meanwhile.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "client/app/reading/content_reading.h"
#include "client/content/create.h"
#include "client/store/content_store.h"
#include "tests/app/temp_folder.h"

namespace firn::tests {

inline constexpr std::uint32_t kOpenBlocks = 8;
inline constexpr std::uint32_t kOpenBlockBytes = 1024;
inline constexpr std::size_t kOpenGeneration = kOpenBlocks * kOpenBlockBytes;

class OpenContent {
 public:
  // "content/0", "content/1", ... of these sizes, of which nothing has come. `names`: others.
  explicit OpenContent(const std::vector<std::size_t>& sizes,
                       std::uint32_t block_bytes = kOpenBlockBytes,
                       const std::vector<std::string>& names = {}) {
    const std::string source = folder_.path() + "/content";
    std::filesystem::create_directory(source);
    std::mt19937_64 random(58);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::string bytes(sizes[i], '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      const std::string name = names.empty() ? std::to_string(i) : names[i];
      std::ofstream(source + "/" + name, std::ios::binary) << bytes;
      files.push_back(std::move(bytes));
    }
    content::CreateOptions options;
    options.generation_size = kOpenBlocks;
    options.block_bytes = block_bytes;
    manifest = content::create_manifest(source, options).value();
    whole_ = store::ContentStore::open_complete(manifest, folder_.path(), {}).value();
    store::Resumed resumed;
    store = store::ContentStore::open_download(manifest, target(), {}, resumed).value();
    reading = std::make_shared<app::ContentReading>(store, std::vector<bool>(generations()),
                                                    std::vector<bool>(), [this] { ++changes; });
  }

  std::string target() const { return folder_.path() + "/target"; }
  std::uint32_t generations() const { return manifest.info.shape.generation_count(); }
  void write(std::uint32_t generation) {
    std::vector<std::uint8_t> data(manifest.info.shape.padded_bytes(generation));
    REQUIRE(whole_->read_generation(generation, data).ok());
    REQUIRE(store->write_generation(generation, data).ok());
  }
  void arrive(std::uint32_t generation) {
    write(generation);
    reading->verified(generation);
  }

  std::vector<std::string> files;
  Manifest manifest;
  std::shared_ptr<store::ContentStore> store;
  std::shared_ptr<app::ContentReading> reading;
  std::atomic<int> changes = 0;

 private:
  TempFolder folder_;
  std::unique_ptr<store::ContentStore> whole_;
};

}  // namespace firn::tests
