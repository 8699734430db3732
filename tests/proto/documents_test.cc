// What docs/formats.md and docs/protocol.md print is what the program does.
#include <doctest/doctest.h>

#include <array>
#include <sstream>
#include <string>

#include "client/checks/set_key.h"
#include "client/privacy/private_keys.h"
#include "codec/gf256.h"
#include "proto/base/limits.h"
#include "proto/content/link.h"
#include "tests/privacy/sample_keys.h"
#include "tests/proto/document.h"
#include "tests/proto/hex.h"
#include "tests/proto/sample_manifest.h"

using namespace firn;
using namespace firn::test;

namespace {

std::string scaled(std::uint8_t factor, std::string bytes) {
  for (char& c : bytes)
    c = static_cast<char>(codec::gf_multiply(factor, static_cast<std::uint8_t>(c)));
  return bytes;
}

std::string sum(std::string a, const std::string& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<char>(a[i] ^ b[i]);
  return a;
}

}  // namespace

TEST_CASE("the manifest in docs/formats.md is the one that is written") {
  const Manifest manifest = *make_manifest(sample_info(), {*parse_address("tracker.example:7000")});
  CHECK(to_hex(manifest.file_bytes) == hex_example("formats.md", "manifest"));
  const auto parsed = parse_manifest(from_hex(hex_example("formats.md", "manifest")));
  REQUIRE(parsed.ok());
  CHECK(parsed->info.files.at(1).path == "deep/b.txt");

  std::string leaves, digests;
  for (std::size_t at = 0; at < 16; at += 4)
    leaves += merkle_leaf(bytes_of(sample_content().substr(at, 4))).raw();
  CHECK(to_hex(leaves) == hex_example("formats.md", "leaves"));
  for (const Digest& digest : manifest.info.generation_digests) digests += digest.raw();
  digests += merkle_root(manifest.info.generation_digests).raw();
  digests += manifest.id.raw();
  CHECK(to_hex(digests) == hex_example("formats.md", "digests"));

  CHECK(to_text(Link{manifest.id, manifest.trackers, {}, {}}) ==
        text_example("formats.md", "link"));
  const Link as_private{manifest.id, manifest.trackers, {}, {}, privacy::test::sample_secret()};
  CHECK(to_text(as_private) == text_example("formats.md", "private_link"));
}

TEST_CASE("the origins in docs/formats.md are those that are written") {
  const std::vector<std::string> urls = {"https://a.example/sample/", "s3://bucket/sample/"};
  const auto named = with_origins(*make_manifest(sample_info(), {}), urls);
  REQUIRE(named.ok());
  const std::string secret =
      from_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
  const auto made = sign_manifest(*named, bytes_of(secret));
  REQUIRE(made.ok());
  const std::string fields = hex_example("formats.md", "origins");
  CHECK(to_hex(made->file_bytes)
            .substr(0, 2 * (made->file_bytes.size() - kIdBytes))
            .ends_with(fields));

  Link link{made->id, {*parse_address("tracker.example:7000")}, {}, {}};
  link.origins = {urls[0]};
  CHECK(to_text(link) == text_example("formats.md", "origin_link"));
}

TEST_CASE("the keys and proofs of a private content are those of docs/protocol.md") {
  const Manifest manifest = *make_manifest(sample_info(), {});
  const privacy::PrivateKeys keys(privacy::test::sample_secret(), manifest.id);
  const std::string binding(32, '\xb1');
  privacy::Session session{bytes_of(binding), {}, {}};
  session.caller.bytes.fill(0xc1);
  session.answerer.bytes.fill(0xa1);
  std::string text = to_hex(keys.rendezvous().raw());
  const auto append = [&](std::span<const std::uint8_t> bytes) {
    text += to_hex(std::string(bytes.begin(), bytes.end()));
  };
  append(keys.manifest_key());
  for (const privacy::Side side : {privacy::Side::kCaller, privacy::Side::kAnswerer})
    append(keys.proof(side, session));
  CHECK(text == hex_example("protocol.md", "private_keys"));
}

TEST_CASE("the combinations in docs/protocol.md follow from the field's arithmetic") {
  const std::string example = from_hex(hex_example("protocol.md", "combination"));
  REQUIRE(example.size() == 14);
  const std::string first = example.substr(0, 4), second = example.substr(4, 4);
  const std::string vector = example.substr(8, 2), payload = example.substr(10);
  CHECK(first == "snow");
  CHECK(second == "firn");
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(vector[i]); };
  CHECK(sum(scaled(at(0), first), scaled(at(1), second)) == payload);

  const std::string unit("\x01\x00", 2);
  CHECK(to_hex(sum(scaled(3, vector), unit) + sum(scaled(3, payload), first)) ==
        hex_example("protocol.md", "recoded"));
  CHECK(codec::gf_multiply(0x80, 0x02) == 0x1d);
  CHECK(codec::gf_multiply(0x02, 0x8e) == 0x01);
}

TEST_CASE("the check sums in docs/protocol.md are those of its key") {
  std::array<std::uint8_t, checks::kSecretBytes> secret{};
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::uint8_t>(i);
  const codec::CheckKey key = checks::SetKey(secret).generation_key(3, 4, 4);
  const auto tag = [&](const std::string& payload) {
    std::string out(4, '\0');
    key.hash(bytes_of(payload), {reinterpret_cast<std::uint8_t*>(out.data()), out.size()});
    return out;
  };
  const std::string combined = from_hex(hex_example("protocol.md", "combination")).substr(10);
  CHECK(to_hex(tag("snow") + tag("firn") + tag(combined)) ==
        hex_example("protocol.md", "check_sums"));
  CHECK(sum(scaled(0x02, tag("snow")), scaled(0x1d, tag("firn"))) == tag(combined));
}

TEST_CASE("the limits in docs/protocol.md are those of the program") {
  const std::string text = document("protocol.md");
  const auto row = [](std::size_t limit, const char* name) {
    return "| " + std::to_string(limit) + " | `" + name + "` |";
  };
#define CHECK_LIMIT(name) CHECK(text.find(row(limits::name, #name)) != std::string::npos)
  CHECK_LIMIT(kGenerationSizeMax);
  CHECK_LIMIT(kBlockBytesMax);
  CHECK_LIMIT(kGenerationBytesMax);
  CHECK_LIMIT(kGenerationCountMax);
  CHECK_LIMIT(kFrameBytesMax);
  CHECK_LIMIT(kManifestBytesMax);
  CHECK_LIMIT(kManifestPartBytes);
  CHECK_LIMIT(kFileCountMax);
  CHECK_LIMIT(kFolderCountMax);
  CHECK_LIMIT(kPathBytesMax);
  CHECK_LIMIT(kPathComponentsMax);
  CHECK_LIMIT(kPathComponentBytesMax);
  CHECK_LIMIT(kTrackerCountMax);
  CHECK_LIMIT(kAddressBytesMax);
  CHECK_LIMIT(kOriginCountMax);
  CHECK_LIMIT(kOriginBytesMax);
  CHECK_LIMIT(kAgentBytesMax);
  CHECK_LIMIT(kReasonBytesMax);
  CHECK_LIMIT(kPeerExchangeMax);
  CHECK_LIMIT(kAnnouncePeersMax);
  CHECK_LIMIT(kStateEntriesMax);
  CHECK_LIMIT(kStateSpansMax);
  CHECK_LIMIT(kTakenBackPerState);
  CHECK_LIMIT(kReceivedMax);
  CHECK_LIMIT(kCertificateBytes);
  CHECK_LIMIT(kCheckGenerationsMax);
  CHECK_LIMIT(kCheckKeyBytes);
  CHECK_LIMIT(kCheckTagBytesMax);
  CHECK_LIMIT(kLeafGenerationsMax);
  CHECK_LIMIT(kWantedBlocksMax);
  CHECK_LIMIT(kPrivateProofBytes);
  CHECK_LIMIT(kConvictedMax);
#undef CHECK_LIMIT
}
