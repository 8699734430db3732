// Contents of reproducible bytes for store tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/store/content_store.h"

namespace firn::store::test {

// Nothing in a test depends on what this machine is quick at, or on what else it does.
inline const OpenOptions kOptions{.fingerprinting = Fingerprinting::kAlways};

struct SampleFile {
  std::string path;
  std::uint64_t bytes = 0;
  bool directory = false;
  std::string target = {};  // of a link
};

struct Sample {
  Manifest manifest;
  std::vector<std::uint8_t> bytes;  // the content by position, zeros between files

  const Info& info() const { return manifest.info; }
  const Shape& shape() const { return manifest.info.shape; }
  std::uint32_t count() const { return shape().generation_count(); }
  std::vector<std::uint8_t> generation(std::uint32_t g) const;  // padded to whole blocks
  std::vector<std::uint8_t> file(std::uint32_t index) const;
};

// A folder called `name`, or one file of that name if `files` is one entry with an empty path.
// Modes 0640, times differ from file to file.
Sample make_sample(const std::string& name, const std::vector<SampleFile>& files,
                   std::uint32_t generation_size, std::uint32_t block_bytes,
                   std::uint64_t seed = 1);

// A row for a slot, the same every time it is asked for.
std::pair<SpooledRow, std::vector<std::uint8_t>> sample_row(const Sample& sample,
                                                            std::uint32_t generation,
                                                            std::uint32_t slot);

// A folder of its own below the system's one for temporary files; removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path(const std::string& below = "") const;

 private:
  std::string path_;
};

std::vector<std::uint8_t> read_file(const std::string& path);
void write_file(const std::string& path, const std::vector<std::uint8_t>& bytes);

}  // namespace firn::store::test
