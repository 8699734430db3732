// What reading a manifest costs: a program of its own, as it counts all memory that is taken.
#include <doctest/doctest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "proto/manifest.h"
#include "proto/wire.h"
#include "tests/proto/sample_manifest.h"

namespace {

std::atomic<std::size_t> held = 0, most = 0;

void* take(std::size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = held += malloc_usable_size(memory);
  for (std::size_t before = most; now > before && !most.compare_exchange_weak(before, now);) {
  }
  return memory;
}

void give(void* memory) {
  if (memory != nullptr) held -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return take(bytes);
}
void operator delete(void* memory) noexcept {
  give(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give(memory);
}

using namespace firn;
using namespace firn::test;

namespace {

constexpr std::size_t kUnknown = 2 << 20;

// So many fields of number 100, each without bytes.
std::string unknown_fields(std::size_t count) {
  std::string fields;
  fields.reserve(3 * count);
  for (std::size_t i = 0; i < count; ++i) fields.append("\xa2\x06\x00", 3);
  return fields;
}

wire::Envelope envelope_of(const Manifest& manifest) {
  wire::Envelope envelope;
  const std::string& file = manifest.file_bytes;
  REQUIRE(envelope.ParseFromString(file.substr(8, file.size() - 8 - kIdBytes)));
  return envelope;
}

std::string sealed(const std::string& envelope) {
  std::string file = std::string(kManifestMagic) + envelope;
  return file.append(sha256(bytes_of(file)).raw());
}

// The most memory that reading `file` held at a time, in bytes for each byte of the file.
double cost(const std::string& file) {
  const std::size_t before = held;
  most = before;
  (void)parse_manifest(file);
  return static_cast<double>(most - before) / static_cast<double>(file.size());
}

}  // namespace

TEST_CASE("fields that nobody knows take no memory of their own") {
  const Manifest sample = *make_manifest(sample_info(), {});
  wire::Envelope envelope = envelope_of(sample);
  std::string file;
  SUBCASE("in the envelope") {
    file = sealed(envelope.SerializeAsString() + unknown_fields(kUnknown));
  }
  SUBCASE("in the info part") {
    envelope.mutable_info()->append(unknown_fields(kUnknown));
    file = sealed(envelope.SerializeAsString());
    CHECK(parse_manifest(file).ok());
  }
  SUBCASE("in the entry of a file") {
    wire::FileEntry entry;
    entry.set_path("more");
    const std::string bytes = entry.SerializeAsString() + unknown_fields(kUnknown);
    wire::Info info;
    REQUIRE(info.ParseFromString(envelope.info()));
    info.add_files()->ParsePartialFromString(bytes);
    envelope.set_info(info.SerializeAsString());
    file = sealed(envelope.SerializeAsString());
    CHECK(parse_manifest(file).ok());
  }
  REQUIRE(file.size() > 3 * kUnknown);
  // The file's bytes and those of its info part are held; objects for the fields would be ten times
  // as much and more.
  CHECK(cost(file) < 4);
}
