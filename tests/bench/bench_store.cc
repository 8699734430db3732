// Measures the store next to plain pwrite of the same bytes to a file in the same folder.
//
//   bench_store [DIR [MIB]]     DIR: on the disk to measure (default: the temporary folder)
//
// Prints MB/s (10^6 bytes) of each round. "synced" includes the sync at the end of the round.
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "client/store/content_store.h"
#include "client/store/crc32c.h"
#include "proto/base/digest.h"

namespace firn::store {
namespace {

constexpr std::uint32_t kGenerationSize = 64;
constexpr std::uint32_t kBlockBytes = 16384;
constexpr std::size_t kGenerationBytes = std::size_t{kGenerationSize} * kBlockBytes;
constexpr int kRounds = 3;

double rate(std::uint64_t bytes, const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(bytes) / 1e6 / seconds.count();
}

template <typename T>
void must(const Result<T>& status) {
  if (status) return;
  std::fprintf(stderr, "bench_store: %s\n", status.error().message().c_str());
  std::exit(1);
}

// All generations alike: one digest serves, and the disk does not mind.
Manifest bench_manifest(std::uint32_t generations, const std::vector<std::uint8_t>& data) {
  Info info;
  info.name = "bench";
  info.single_file = true;
  FileEntry file;
  file.bytes = std::uint64_t{generations} * kGenerationBytes;
  info.files.push_back(file);
  info.shape = {kGenerationSize, kBlockBytes, file.bytes};
  info.generation_digests.assign(generations, generation_digest(data, kBlockBytes));
  Result<Manifest> manifest = make_manifest(info, {});
  FIRN_CHECK(manifest.ok());
  return *std::move(manifest);
}

class Bench {
 public:
  Bench(std::string dir, std::uint32_t generations)
      : dir_(std::move(dir)), generations_(generations), data_(kGenerationBytes) {
    for (std::size_t i = 0; i < data_.size(); ++i) {
      data_[i] = static_cast<std::uint8_t>(i * 2654435761u >> 13);
    }
    bytes_ = std::uint64_t{generations} * kGenerationBytes;
    manifest_ = bench_manifest(generations, data_);
  }

  void run() {
    std::printf("%-28s", "plain pwrite, 1 MiB");
    for (int i = 0; i < kRounds; ++i) plain(kGenerationBytes, 0);
    std::printf("\n%-28s", "plain pwrite, 16 KiB");
    for (int i = 0; i < kRounds; ++i) plain(kBlockBytes, 0);
    std::printf("\n%-28s", "plain pwrite, synced");
    for (int i = 0; i < kRounds; ++i) plain(kGenerationBytes, 1);
    std::vector<std::string> lines[6];
    for (int i = 0; i < kRounds; ++i) {
      generations(lines[0], lines[1], lines[2]);
      rows(lines[3], lines[4], lines[5]);
    }
    const char* names[] = {"write_generation", "write_generation, synced",
                           "read_generation",  "write_row",
                           "read_row",         "set_proven, bytes of rows"};
    for (int i = 0; i < 6; ++i) {
      std::printf("\n%-28s", names[i]);
      for (const std::string& figure : lines[i]) std::printf("%s", figure.c_str());
    }
    std::printf("\n%-28s", "generation_digest (SHA-256)");
    for (int i = 0; i < kRounds; ++i) {
      print(rate(64 * kGenerationBytes, [&] {
        for (int g = 0; g < 64; ++g) (void)generation_digest(data_, kBlockBytes);
      }));
    }
    std::printf("\n%-28s", "the same, block by block");
    const std::span<const std::uint8_t> blocks(data_);
    for (int i = 0; i < kRounds; ++i) {
      print(rate(64 * kGenerationBytes, [&] {
        for (std::size_t at = 0; at < 64 * blocks.size(); at += kBlockBytes)
          (void)merkle_leaf(blocks.subspan(at % blocks.size(), kBlockBytes));
      }));
    }
    std::printf("\n%-28s", "crc32c");
    std::uint32_t crc = 0;
    for (int i = 0; i < kRounds; ++i) {
      print(rate(256 * kGenerationBytes, [&] {
        for (int g = 0; g < 256; ++g) crc = crc32c(crc, data_);
      }));
    }
    std::printf("\n");
    if (crc == 1) std::printf("\n");  // the sum is used
  }

 private:
  static std::string figure(double megabytes) {
    char text[32];
    std::snprintf(text, sizeof text, " %8.0f", megabytes);
    return text;
  }
  static void print(double megabytes) { std::printf("%s", figure(megabytes).c_str()); }

  void plain(std::size_t piece, bool synced) {
    const std::string path = dir_ + "/plain";
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    FIRN_CHECK(file >= 0);
    FIRN_CHECK(::ftruncate(file, static_cast<off_t>(bytes_)) == 0);
    print(rate(bytes_, [&] {
      for (std::uint64_t at = 0; at < bytes_; at += piece) {
        FIRN_CHECK(::pwrite(file, data_.data() + at % kGenerationBytes, piece,
                            static_cast<off_t>(at)) == static_cast<ssize_t>(piece));
      }
      if (synced) FIRN_CHECK(::fdatasync(file) == 0);
    }));
    ::close(file);
    std::filesystem::remove(path);
  }

  std::unique_ptr<ContentStore> open_fresh() {
    std::filesystem::remove_all(dir_ + "/.firn");
    Resumed resumed;
    auto opened = ContentStore::open_download(manifest_, dir_, {}, resumed);
    FIRN_CHECK(opened.ok());
    return *std::move(opened);
  }

  void generations(std::vector<std::string>& written, std::vector<std::string>& synced,
                   std::vector<std::string>& read) {
    const auto store = open_fresh();
    const auto write = [&] {
      for (std::uint32_t g = 0; g < generations_; ++g) must(store->write_generation(g, data_));
    };
    double write_rate = 0;
    const double synced_rate = rate(bytes_, [&] {
      write_rate = rate(bytes_, write);
      must(store->sync());
    });
    written.push_back(figure(write_rate));
    synced.push_back(figure(synced_rate));
    std::vector<std::uint8_t> out(kGenerationBytes);
    read.push_back(figure(rate(bytes_, [&] {
      for (std::uint32_t g = 0; g < generations_; ++g) must(store->read_generation(g, out));
    })));
    must(store->finish());
    std::filesystem::remove(dir_ + "/bench");
  }

  // As a download goes: a few generations open at a time, their places used again and again.
  void rows(std::vector<std::string>& written, std::vector<std::string>& read,
            std::vector<std::string>& marked) {
    constexpr std::uint32_t kOpen = 8;
    const auto store = open_fresh();
    SpooledRow row;
    row.vector.assign(kGenerationSize, 7);
    const std::span<const std::uint8_t> block(data_.data(), kBlockBytes);
    written.push_back(figure(rate(bytes_, [&] {
      for (row.generation = 0; row.generation < generations_; ++row.generation) {
        for (row.slot = 0; row.slot < kGenerationSize; ++row.slot) {
          must(store->write_row(row, block));
        }
        if (row.generation >= kOpen) must(store->drop_rows(row.generation - kOpen));
      }
    })));
    const std::uint32_t kept = std::min(generations_, kOpen);
    std::vector<std::uint8_t> out(kBlockBytes);
    read.push_back(figure(rate(std::uint64_t{kept} * kGenerationBytes, [&] {
      for (std::uint32_t g = generations_ - kept; g < generations_; ++g) {
        for (std::uint32_t slot = 0; slot < kGenerationSize; ++slot) {
          must(store->read_row(g, slot, out));
        }
      }
    })));
    marked.push_back(figure(rate(std::uint64_t{kept} * kGenerationBytes, [&] {
      for (std::uint32_t g = generations_ - kept; g < generations_; ++g) {
        for (std::uint32_t slot = 0; slot < kGenerationSize; ++slot) {
          must(store->set_proven(g, slot, true));
        }
      }
    })));
  }

  const std::string dir_;
  const std::uint32_t generations_;
  std::vector<std::uint8_t> data_;
  std::uint64_t bytes_ = 0;
  Manifest manifest_;
};

}  // namespace
}  // namespace firn::store

int main(int argc, char** argv) {
  const std::string parent = argc > 1 ? argv[1] : std::filesystem::temp_directory_path().string();
  const std::uint32_t generations =
      argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 1024;
  std::string dir = parent + "/firn-bench-XXXXXX";
  FIRN_CHECK(::mkdtemp(dir.data()) != nullptr);
  utsname machine;
  FIRN_CHECK(::uname(&machine) == 0);
  std::printf("%s %s, %u MiB in %s, MB/s per round\n", machine.sysname, machine.release,
              generations, parent.c_str());
  firn::store::Bench(dir, generations).run();
  std::error_code ignored;
  std::filesystem::remove_all(dir, ignored);
  return 0;
}
