// What reading manifests and messages costs: a program of its own, as it counts all memory that is
// taken.
#include <doctest/doctest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "proto/base/limits.h"
#include "proto/content/manifest.h"
#include "proto/messages.h"
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

// The most memory that `read` held at a time, in bytes for each of the `bytes` it was given.
template <typename Read>
double cost(const std::string& bytes, const Read& read) {
  const std::size_t before = held;
  most = before;
  (void)read(bytes);
  return static_cast<double>(most - before) / static_cast<double>(bytes.size());
}

}  // namespace

TEST_CASE("a manifest's fields that nobody knows take no memory of their own") {
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
    entry.set_digest(std::string(32, 'd'));
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
  CHECK(cost(file, [](const std::string& bytes) { return parse_manifest(bytes).ok(); }) < 4);
}

TEST_CASE("a message's fields that nobody knows take no memory of their own") {
  // As much as a frame may hold, within each kind of message that the generated classes read.
  const std::string unknown = unknown_fields((limits::kFrameBytesMax - 100) / 3);
  const auto body = [&](auto message) {
    message.ParsePartialFromString(unknown);
    return message;
  };
  wire::PeerMessage to_peer;
  wire::TrackerRequest to_tracker;
  bool asks_tracker = false;
  SUBCASE("hello") {
    *to_peer.mutable_hello() = body(wire::Hello());
  }
  SUBCASE("state") {
    *to_peer.mutable_state() = body(wire::State());
  }
  SUBCASE("an entry of a state") {
    *to_peer.mutable_state()->add_generations() = body(wire::GenerationState());
  }
  SUBCASE("peer exchange") {
    *to_peer.mutable_peer_exchange() = body(wire::PeerExchange());
  }
  SUBCASE("manifest request") {
    *to_peer.mutable_manifest_request() = body(wire::ManifestRequest());
  }
  SUBCASE("announce") {
    asks_tracker = true;
    *to_tracker.mutable_announce() = body(wire::Announce());
  }
  const std::string frame =
      asks_tracker ? to_tracker.SerializeAsString() : to_peer.SerializeAsString();
  REQUIRE(frame.size() > limits::kFrameBytesMax - 200);
  const auto read = [&](const std::string& bytes) {
    return asks_tracker ? proto::parse_tracker_request(bytes_of(bytes)).ok()
                        : proto::parse_peer_message(bytes_of(bytes)).ok();
  };
  CHECK(cost(frame, read) < 4);
}
