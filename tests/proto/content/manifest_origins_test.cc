// Origins of a manifest and the publisher's signature of them.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "proto/base/limits.h"
#include "proto/base/signature.h"
#include "proto/content/manifest.h"
#include "proto/content/publisher.h"
#include "proto/wire.h"
#include "tests/proto/hex.h"
#include "tests/proto/sample_manifest.h"

using namespace firn;
using namespace firn::test;

namespace {

using Urls = std::vector<std::string>;

const Urls kUrls = {"https://a.example/x/", "s3://bucket/x/", "http://b.example:8080/x/?v=1"};
const std::string kSecret(32, 's'), kOtherSecret(32, 't');

Manifest plain() {
  return *make_manifest(sample_info(), {*parse_address("tracker.example:7000")});
}

Manifest with_urls(const Urls& urls = kUrls) {
  return *with_origins(plain(), urls);
}

Manifest signed_one(const Urls& urls = kUrls) {
  return *sign_manifest(with_urls(urls), bytes_of(kSecret));
}

wire::Envelope wire_envelope(const Manifest& manifest) {
  wire::Envelope envelope;
  const std::string& file = manifest.file_bytes;
  REQUIRE(envelope.ParseFromString(file.substr(8, file.size() - 8 - 32)));
  return envelope;
}

std::string file_of(const wire::Envelope& envelope) {
  const std::string file = std::string(kManifestMagic) + envelope.SerializeAsString();
  return file + std::string(sha256(bytes_of(file)).raw());
}

// The code of parse_manifest's error for a manifest whose envelope is changed; nullopt: it is
// taken.
std::optional<ErrorCode> fault_of(const Manifest& manifest,
                                  const std::function<void(wire::Envelope&)>& change) {
  wire::Envelope envelope = wire_envelope(manifest);
  change(envelope);
  const auto parsed = parse_manifest(file_of(envelope));
  return parsed.ok() ? std::nullopt : std::optional(parsed.error().code);
}

void set_urls(wire::Envelope& envelope, const Urls& urls) {
  envelope.mutable_origins()->Assign(urls.begin(), urls.end());
}

}  // namespace

TEST_CASE("origins come back, and the content id stays without, with and with signed ones") {
  CHECK(plain().origins.empty());
  CHECK_FALSE(plain().origins_signed);
  for (const Manifest& manifest : {with_urls(), signed_one()}) {
    CHECK(manifest.id == plain().id);
    CHECK(manifest.origins == kUrls);
    CHECK(manifest.trackers == plain().trackers);
    const auto parsed = parse_manifest(manifest.file_bytes, plain().id);
    REQUIRE(parsed.ok());
    CHECK(parsed->origins == kUrls);
    CHECK(parsed->origins_signed == manifest.publisher.has_value());
  }
  CHECK_FALSE(sign_manifest(plain(), bytes_of(kSecret))->origins_signed);
}

TEST_CASE("a manifest names the origins that a manifest may name, and at most 16") {
  const auto code = [](const Urls& urls) {
    const auto made = with_origins(plain(), urls);
    return made.ok() ? std::nullopt : std::optional(made.error().code);
  };
  const std::string head = "https://a.example/";
  const std::string longest = head + std::string(limits::kOriginBytesMax - head.size(), 'x');
  CHECK_FALSE(code(Urls(16, longest)));
  CHECK(sign_manifest(*with_origins(plain(), Urls(16, longest)), bytes_of(kSecret)).ok());
  CHECK(code(Urls(17, head)) == ErrorCode::kBadInput);
  CHECK(code({longest + "x"}) == ErrorCode::kBadInput);
  for (const char* url : {"", "ftp://a.example/", "http://user:secret@a.example/", "http://a/\n",
                          "http://a/\xff", "http://a/#x"}) {
    CAPTURE(url);
    CHECK(code({head, url}) == ErrorCode::kBadInput);
    const auto named = [&](wire::Envelope& e) {
      set_urls(e, {head});
      *e.add_origins() = url;
    };
    CHECK(fault_of(plain(), named) == ErrorCode::kBadInput);
  }
  CHECK(fault_of(plain(), [&](auto& e) { set_urls(e, Urls(17, head)); }) == ErrorCode::kBadInput);
  // Whoever signed it.
  CHECK(fault_of(plain(), [&](wire::Envelope& e) {
          e = wire_envelope(signed_one());
          const Urls bad = {"http://user:secret@a.example/"};
          set_urls(e, bad);
          e.set_origins_signature(*sign(origins_message(plain().id, bad), bytes_of(kSecret)));
        }) == ErrorCode::kBadInput);
}

TEST_CASE("other trackers leave the origins and their signature as they are") {
  const auto moved = with_trackers(signed_one(), {});
  REQUIRE(moved.ok());
  CHECK(moved->trackers.empty());
  CHECK(moved->origins == kUrls);
  CHECK(moved->origins_signed);
  CHECK(with_trackers(*moved, plain().trackers)->file_bytes == signed_one().file_bytes);
  CHECK(with_trackers(with_urls(), {})->origins == kUrls);
}

TEST_CASE("other origins lose the signature, the same ones keep it, and signing makes it anew") {
  CHECK(with_origins(signed_one(), kUrls)->file_bytes == signed_one().file_bytes);
  const Urls fewer = {kUrls[0]};
  const auto changed = with_origins(signed_one(), fewer);
  REQUIRE(changed.ok());
  CHECK(changed->origins == fewer);
  CHECK_FALSE(changed->origins_signed);
  CHECK(changed->publisher.has_value());
  CHECK(sign_manifest(*changed, bytes_of(kSecret))->file_bytes == signed_one(fewer).file_bytes);
  const auto resigned = sign_manifest(signed_one(), bytes_of(kOtherSecret));
  REQUIRE(resigned.ok());
  CHECK(resigned->origins_signed);
  CHECK(resigned->publisher->key != signed_one().publisher->key);
  // Stripped, nothing is left of them.
  const auto stripped = with_origins(signed_one(), {});
  REQUIRE(stripped.ok());
  CHECK(stripped->id == plain().id);
  CHECK(stripped->file_bytes == sign_manifest(plain(), bytes_of(kSecret))->file_bytes);
  CHECK(with_origins(with_urls(), {})->file_bytes == plain().file_bytes);
}

TEST_CASE("who strips origins and their signature on the wire leaves a valid manifest") {
  wire::Envelope envelope = wire_envelope(signed_one());
  envelope.clear_origins_signature();
  const auto unsigned_ones = parse_manifest(file_of(envelope), plain().id);
  REQUIRE(unsigned_ones.ok());
  CHECK(unsigned_ones->origins == kUrls);
  CHECK_FALSE(unsigned_ones->origins_signed);
  CHECK(unsigned_ones->publisher.has_value());
  envelope.clear_origins();
  const auto without = parse_manifest(file_of(envelope), plain().id);
  REQUIRE(without.ok());
  CHECK(without->origins.empty());
}

TEST_CASE("a flipped bit of signed origins, of their signature or of its key is refused") {
  const Manifest manifest = signed_one();
  for (std::size_t i = 0; i < kUrls.size(); ++i)
    for (std::size_t at = 0; at < kUrls[i].size(); ++at)
      for (const int bit : {0, 5}) {
        CAPTURE(i);
        CAPTURE(at);
        CHECK(fault_of(manifest, [&](wire::Envelope& e) {
          char& byte = (*e.mutable_origins(static_cast<int>(i)))[at];
          byte = static_cast<char>(byte ^ 1 << bit);
        }));
      }
  for (std::size_t at = 0; at < kSignatureBytes; ++at)
    CHECK(fault_of(manifest, [&](wire::Envelope& e) {
            char& byte = (*e.mutable_origins_signature())[at];
            byte = static_cast<char>(byte ^ 1);
          }) == ErrorCode::kCorrupt);
  CHECK(fault_of(manifest, [](auto& e) { e.mutable_origins_signature()->push_back('x'); }) ==
        ErrorCode::kCorrupt);
  CHECK(fault_of(manifest, [](auto& e) { (*e.mutable_publisher_key())[5] ^= 1; }) ==
        ErrorCode::kCorrupt);
}

TEST_CASE("a signature is for all origins, in their order, each as long as it is") {
  const Manifest manifest = signed_one();
  const auto with = [&](const Urls& urls) {
    return fault_of(manifest, [&](auto& e) { set_urls(e, urls); });
  };
  CHECK_FALSE(with(kUrls));
  CHECK(with({kUrls[1], kUrls[0], kUrls[2]}) == ErrorCode::kCorrupt);
  CHECK(with({kUrls[0], kUrls[1]}) == ErrorCode::kCorrupt);
  CHECK(with({kUrls[0], kUrls[1], kUrls[2], kUrls[2]}) == ErrorCode::kCorrupt);
  CHECK(with({}) == ErrorCode::kCorrupt);
  // The same characters, cut elsewhere.
  const Urls joined = {"http://a.example/http://b.example/"};
  const Urls apart = {"http://a.example/", "http://b.example/"};
  CHECK(fault_of(signed_one(joined), [&](auto& e) { set_urls(e, apart); }) == ErrorCode::kCorrupt);
  CHECK(fault_of(signed_one(apart), [&](auto& e) { set_urls(e, joined); }) == ErrorCode::kCorrupt);
  CHECK(origins_message(manifest.id, joined) != origins_message(manifest.id, apart));
}

TEST_CASE("origins are signed by the publisher of this content, or by nobody") {
  const Manifest manifest = signed_one();
  CHECK(fault_of(manifest, [](wire::Envelope& e) {
          e.clear_publisher_key();
          e.clear_publisher_signature();
        }) == ErrorCode::kCorrupt);
  CHECK(fault_of(manifest, [](wire::Envelope& e) {
          e.set_origins_signature(
              *sign(origins_message(plain().id, kUrls), bytes_of(kOtherSecret)));
        }) == ErrorCode::kCorrupt);
  Info other = sample_info();
  other.name = "other";
  const Manifest another = *sign_manifest(*make_manifest(other, {}), bytes_of(kSecret));
  CHECK(fault_of(another, [&](wire::Envelope& e) {
          set_urls(e, kUrls);
          e.set_origins_signature(wire_envelope(manifest).origins_signature());
        }) == ErrorCode::kCorrupt);
  // Nor does the signature of the info part do.
  CHECK(fault_of(manifest, [](auto& e) { e.set_origins_signature(e.publisher_signature()); }) ==
        ErrorCode::kCorrupt);
}

TEST_CASE("of a stranger's file trackers and what the publisher did not sign are left out") {
  const Manifest bare = *with_trackers(*sign_manifest(plain(), bytes_of(kSecret)), {});
  CHECK(parse_strangers_manifest(signed_one().file_bytes, plain().id)->file_bytes ==
        with_trackers(signed_one(), {})->file_bytes);
  CHECK(parse_strangers_manifest(bare.file_bytes, plain().id)->file_bytes == bare.file_bytes);
  const std::vector<std::function<void(wire::Envelope&)>> spoils = {
      [](auto& e) { e.clear_origins_signature(); },
      [](auto& e) { (*e.mutable_origins_signature())[3] ^= 1; },
      [](auto& e) { e.mutable_origins_signature()->pop_back(); },
      [](auto& e) { e.clear_origins(); },
      [](auto& e) { set_urls(e, {kUrls[1]}); },
      [](auto& e) { set_urls(e, {"https://user:word@a.example/"}); },
      [](auto& e) { set_urls(e, {"\xff" + std::string(limits::kOriginBytesMax, 'x')}); },
      [](auto& e) { set_urls(e, Urls(limits::kOriginCountMax + 1, kUrls[0])); }};
  for (std::size_t i = 0; i < spoils.size(); ++i) {
    CAPTURE(i);
    wire::Envelope envelope = wire_envelope(signed_one());
    spoils[i](envelope);
    const auto read = parse_strangers_manifest(file_of(envelope), plain().id);
    REQUIRE(read.ok());
    CHECK(read->file_bytes == bare.file_bytes);
  }
  wire::Envelope envelope = wire_envelope(signed_one());
  (*envelope.mutable_publisher_signature())[3] ^= 1;
  CHECK_FALSE(parse_strangers_manifest(file_of(envelope), plain().id).ok());
  CHECK_FALSE(parse_strangers_manifest(bare.file_bytes, ContentId{}).ok());
  CHECK_FALSE(parse_strangers_manifest("", plain().id).ok());
}
