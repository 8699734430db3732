// What each stage of a transfer costs at least, on this machine: processor seconds for each GiB of
// content, by programs that do this one thing and nothing else. scripts/bench-transfer prints them
// beside the profile of a peer.
//
//   measure_floors [DIR [GENERATIONS]]     DIR: where files are written (the temporary folder)
//
// One JSON object on stdout: {"tls": seconds, ..., "each_ns": {...}}, with the prices of single
// events (prices.h). Generations of 64 blocks of 16 KiB, each in memory that was not touched
// lately, as in a transfer.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "codec/decode.h"
#include "codec/product.h"
#include "codec/random.h"
#include "proto/base/digest.h"
#include "proto/base/result.h"
#include "tests/bench/prices.h"

namespace firn {
namespace {

constexpr std::size_t kGenerationBytes = kN * kBlockBytes;
constexpr std::size_t kRecordBytes = 16384;
constexpr int kRounds = 3;

using Bytes = std::vector<std::uint8_t>;

class Floors {
 public:
  Floors(std::string dir, std::size_t generations)
      : path_(std::move(dir) + "/firn-floors"),
        generations_(generations),
        content_(generations * kGenerationBytes),
        other_(content_.size()) {
    for (std::size_t i = 0; i < content_.size(); ++i)
      content_[i] = static_cast<std::uint8_t>(i * 2654435761u >> 13);
  }
  ~Floors() { ::unlink(path_.c_str()); }

  nlohmann::ordered_json measure() {
    nlohmann::ordered_json floors;
    const auto best = [&](const char* name, const std::function<void()>& work) {
      double least = 1e9;
      for (int i = 0; i < kRounds; ++i) {
        const double begin = thread_cpu_seconds();
        work();
        least = std::min(least, thread_cpu_seconds() - begin);
      }
      floors[name] = least * static_cast<double>(1 << 30) / static_cast<double>(content_.size());
    };
    best("copies", [&] { std::memcpy(other_.data(), content_.data(), content_.size()); });
    best("hash", [&] {
      for (std::size_t g = 0; g < generations_; ++g)
        (void)generation_digest(generation(g), kBlockBytes);
    });
    best("tls", [&] { encrypt(); });
    best("disk_write", [&] { write_file(); });
    best("disk_read", [&] { read_file(); });
    best("encode", [&] { encode(); });
    best("decode", [&] { decode(); });
    measure_network(floors);
    return floors;
  }

 private:
  std::span<const std::uint8_t> generation(std::size_t g) const {
    return std::span(content_).subspan(g * kGenerationBytes, kGenerationBytes);
  }

  void encrypt() {
    EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
    const std::uint8_t key[16] = {1}, nonce[12] = {2};
    std::uint8_t tag[16];
    int bytes = 0;
    FIRN_CHECK(EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nullptr, key, nonce) == 1);
    for (std::size_t at = 0; at < content_.size(); at += kRecordBytes) {
      FIRN_CHECK(EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, nonce) == 1);
      FIRN_CHECK(EVP_EncryptUpdate(context, other_.data() + at, &bytes, content_.data() + at,
                                   kRecordBytes) == 1);
      FIRN_CHECK(EVP_EncryptFinal_ex(context, tag, &bytes) == 1);
      FIRN_CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, sizeof tag, tag) == 1);
    }
    EVP_CIPHER_CTX_free(context);
  }

  void write_file() {
    const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    FIRN_CHECK(file >= 0);
    for (std::size_t at = 0; at < content_.size(); at += kGenerationBytes)
      FIRN_CHECK(::pwrite(file, content_.data() + at, kGenerationBytes, static_cast<off_t>(at)) ==
                 static_cast<ssize_t>(kGenerationBytes));
    ::close(file);
  }

  void read_file() {
    const int file = ::open(path_.c_str(), O_RDONLY);
    FIRN_CHECK(file >= 0);
    for (std::size_t at = 0; at < content_.size(); at += kGenerationBytes)
      FIRN_CHECK(::pread(file, other_.data() + at, kGenerationBytes, static_cast<off_t>(at)) ==
                 static_cast<ssize_t>(kGenerationBytes));
    ::close(file);
  }

  // All n blocks of a generation in one product: as many as there are pay for reading it once.
  void encode() {
    const Bytes vectors = random_matrix();
    for (std::size_t g = 0; g < generations_; ++g) {
      const auto blocks = rows_of(generation(g), kBlockBytes);
      std::vector<std::uint8_t*> coded(kN);
      for (std::size_t i = 0; i < kN; ++i)
        coded[i] = other_.data() + g * kGenerationBytes + i * kBlockBytes;
      codec::multiply_rows(codec::kernels(), coded.data(), kN, blocks.data(), kN, vectors.data(),
                           kN, kBlockBytes);
    }
  }

  void decode() {
    const Bytes vectors = random_matrix();
    const auto rows = rows_of(vectors, kN);
    for (std::size_t g = 0; g < generations_; ++g) {
      const auto payloads = rows_of(generation(g), kBlockBytes);
      (void)codec::decode_generation(
          codec::kernels(), kN, kBlockBytes, rows, payloads,
          std::span(other_).subspan(g * kGenerationBytes, kGenerationBytes));
    }
  }

  static Bytes random_matrix() {
    Bytes matrix(kN * kN);
    codec::CoefficientStream random(7, 0);
    random.fill(matrix);
    return matrix;
  }

  static std::vector<const std::uint8_t*> rows_of(std::span<const std::uint8_t> bytes,
                                                  std::size_t row_bytes) {
    std::vector<const std::uint8_t*> rows;
    for (std::size_t at = 0; at < bytes.size(); at += row_bytes) rows.push_back(bytes.data() + at);
    return rows;
  }

  // TCP on loopback: records out, four of them in at once.
  void measure_network(nlohmann::ordered_json& floors) {
    const std::array<int, 2> ends = connected();
    double receiving = 0;
    std::thread receiver([&] {
      const double begin = thread_cpu_seconds();
      for (std::size_t got = 0; got < content_.size();) {
        const ssize_t bytes = ::recv(ends[1], other_.data() + got,
                                     std::min(4 * kRecordBytes, content_.size() - got), 0);
        FIRN_CHECK(bytes > 0);
        got += static_cast<std::size_t>(bytes);
      }
      receiving = thread_cpu_seconds() - begin;
    });
    const double begin = thread_cpu_seconds();
    for (std::size_t put = 0; put < content_.size();) {
      const ssize_t bytes = ::send(ends[0], content_.data() + put,
                                   std::min(kRecordBytes, content_.size() - put), MSG_NOSIGNAL);
      FIRN_CHECK(bytes > 0);
      put += static_cast<std::size_t>(bytes);
    }
    const double sending = thread_cpu_seconds() - begin;
    receiver.join();
    ::close(ends[0]), ::close(ends[1]);
    const double gib = static_cast<double>(content_.size()) / static_cast<double>(1 << 30);
    floors["network_send"] = sending / gib;
    floors["network_receive"] = receiving / gib;
  }

  static std::array<int, 2> connected() {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    const int caller = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    FIRN_CHECK(listener >= 0 && caller >= 0 && ::bind(listener, plain, bytes) == 0);
    FIRN_CHECK(::listen(listener, 1) == 0 && ::getsockname(listener, plain, &bytes) == 0);
    FIRN_CHECK(::connect(caller, plain, bytes) == 0);
    const int accepted = ::accept(listener, nullptr, nullptr);
    FIRN_CHECK(accepted >= 0);
    ::close(listener);
    return {caller, accepted};
  }

  const std::string path_;
  const std::size_t generations_;
  Bytes content_, other_;
};

}  // namespace
}  // namespace firn

int main(int argc, char** argv) {
  const std::string dir = argc > 1 ? argv[1] : std::filesystem::temp_directory_path().string();
  const auto generations = static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : 256);
  if (generations == 0) {
    std::fprintf(stderr, "usage: measure_floors [DIR [GENERATIONS]]\n");
    return 1;
  }
  firn::Floors floors(dir, generations);
  auto measured = floors.measure();
  measured["each_ns"] = firn::measure_prices();
  std::printf("%s\n", measured.dump().c_str());
}
