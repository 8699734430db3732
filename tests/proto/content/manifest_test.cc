#include "proto/content/manifest.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "proto/base/limits.h"
#include "proto/wire.h"
#include "tests/proto/hex.h"
#include "tests/proto/sample_manifest.h"

using namespace firn;
using namespace firn::test;

namespace {

Address address(const char* text) {
  return *parse_address(text);
}

// The envelope in bytes as a file with the right magic and seal.
std::string sealed(const std::string& envelope) {
  std::string file = std::string(kManifestMagic) + envelope;
  return file.append(sha256(bytes_of(file)).raw());
}

wire::Envelope envelope_of(const Manifest& manifest) {
  const std::string& file = manifest.file_bytes;
  wire::Envelope envelope;
  REQUIRE(envelope.ParseFromString(file.substr(8, file.size() - 8 - 32)));
  return envelope;
}

wire::Info wire_info_of(const Manifest& manifest) {
  wire::Info info;
  REQUIRE(info.ParseFromString(envelope_of(manifest).info()));
  return info;
}

Manifest sample() {
  return *make_manifest(sample_info(), {address("tracker.example:7000")});
}

// What parse_manifest says to the sample with its info changed on the wire.
Error fault(const std::function<void(wire::Info&)>& change) {
  wire::Info info = wire_info_of(sample());
  change(info);
  wire::Envelope envelope;
  envelope.set_info(info.SerializeAsString());
  const auto parsed = parse_manifest(sealed(envelope.SerializeAsString()));
  REQUIRE_FALSE(parsed.ok());
  return parsed.error();
}

bool has(const Error& error, const char* part) {
  return error.detail.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a manifest comes back as it was made") {
  const Info info = sample_info();
  const PeerId id = PeerId::from_bytes(std::string(32, 'k')).value();
  const auto made =
      make_manifest(info, {address("tracker.example:7000"), {.id = id, .host = "::1", .port = 9}});
  REQUIRE(made.ok());
  const auto parsed = parse_manifest(made->file_bytes);
  REQUIRE(parsed.ok());
  for (const Manifest* manifest : {&*made, &*parsed}) {
    CHECK(manifest->file_bytes == made->file_bytes);
    CHECK(manifest->id == made->id);
    CHECK(manifest->info.name == "sample");
    CHECK_FALSE(manifest->info.single_file);
    CHECK(manifest->info.shape.content_bytes == info.shape.content_bytes);
    CHECK(manifest->info.generation_digests == info.generation_digests);
    REQUIRE(manifest->info.files.size() == info.files.size());
    for (std::size_t i = 0; i < info.files.size(); ++i) {
      CHECK(manifest->info.files[i].path == info.files[i].path);
      CHECK(manifest->info.files[i].bytes == info.files[i].bytes);
      CHECK(manifest->info.files[i].mode == info.files[i].mode);
      CHECK(manifest->info.files[i].modified_ns == info.files[i].modified_ns);
      CHECK(manifest->info.files[i].kind == info.files[i].kind);
      CHECK(manifest->info.files[i].digest == info.files[i].digest);
      CHECK(manifest->info.files[i].target == info.files[i].target);
    }
    CHECK(manifest->info.files[1].offset == 16);  // a generation's bytes or more
    CHECK(manifest->info.files[3].offset == 34);
    CHECK(manifest->info.shape.generation_count() == 3);
    CHECK(manifest->info.shape.blocks_in(0) == 4);
    CHECK(manifest->info.shape.blocks_in(2) == 1);
    REQUIRE(manifest->trackers.size() == 2);
    CHECK(manifest->trackers[1].id == id);
    CHECK_FALSE(manifest->publisher);
  }
  CHECK(made->id.raw() == sha256(bytes_of(envelope_of(*made).info())).raw());
  CHECK(*manifest_content_id(made->file_bytes) == made->id);
}

TEST_CASE("the first bytes of a manifest tell the content's name") {
  Info info = sample_info();
  info.name = std::string(limits::kPathComponentBytesMax, 'n');
  const auto made = make_manifest(info, {});
  REQUIRE(made.ok());
  CHECK(manifest_name(made->file_bytes) == info.name);
  CHECK(manifest_name(std::string_view(made->file_bytes).substr(0, kNameWithin)) == info.name);
  CHECK(manifest_name(std::string_view(made->file_bytes).substr(0, 20)).empty());
  CHECK(manifest_name("FIRNSEA1 and more").empty());
  CHECK(manifest_name("").empty());
}

TEST_CASE("every flipped bit of a manifest is found") {
  std::string file = sample().file_bytes;
  for (std::size_t byte = 0; byte < file.size(); ++byte)
    for (int bit = 0; bit < 8; ++bit) {
      CAPTURE(byte);
      CAPTURE(bit);
      file[byte] = static_cast<char>(file[byte] ^ (1 << bit));
      CHECK_FALSE(parse_manifest(file).ok());
      const auto id = manifest_content_id(file);
      REQUIRE_FALSE(id.ok());
      CHECK(id.error().code == (byte < 8 ? ErrorCode::kBadInput : ErrorCode::kCorrupt));
      file[byte] = static_cast<char>(file[byte] ^ (1 << bit));
    }
  CHECK(parse_manifest(file).ok());
}

TEST_CASE("a manifest cut short or with bytes behind it is found") {
  const std::string file = sample().file_bytes;
  for (std::size_t cut = 0; cut < file.size(); ++cut)
    CHECK_FALSE(parse_manifest(file.substr(0, cut)).ok());
  for (const std::string& tail : {std::string(1, '\0'), std::string(32, 'x'), file})
    CHECK_FALSE(parse_manifest(file + tail).ok());
}

TEST_CASE("another content's manifest is not taken for the one asked for") {
  const Manifest manifest = sample();
  CHECK(parse_manifest(manifest.file_bytes, manifest.id).ok());
  const auto other = parse_manifest(manifest.file_bytes, ContentId{});
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code == ErrorCode::kCorrupt);
  CHECK(has(other.error(), manifest.id.text().c_str()));
}

TEST_CASE("trackers may change, the content stays the same") {
  const Manifest manifest = sample();
  const auto changed = with_trackers(manifest, {address("[::1]:1"), address("b.example:2")});
  REQUIRE(changed.ok());
  CHECK(changed->id == manifest.id);
  CHECK(changed->file_bytes != manifest.file_bytes);
  CHECK(changed->trackers.size() == 2);
  CHECK(with_trackers(*changed, manifest.trackers)->file_bytes == manifest.file_bytes);
}

TEST_CASE("trackers that cannot be connected to, or too many of them, are refused") {
  for (const char* text : {":7000", "*:7000", "a.example:0"}) {
    const auto made = make_manifest(sample_info(), {address(text)});
    REQUIRE_FALSE(made.ok());
    CHECK(has(made.error(), "no host or no port"));
  }
  const std::vector<Address> most(limits::kTrackerCountMax, address("a:1"));
  CHECK(make_manifest(sample_info(), most).ok());
  std::vector<Address> more = most;
  more.push_back(address("a:1"));
  CHECK_FALSE(make_manifest(sample_info(), more).ok());
}

TEST_CASE("a signature is the publisher's for this content, or the manifest is refused") {
  const std::string secret =
      from_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
  const auto made = sign_manifest(sample(), bytes_of(secret));
  REQUIRE(made.ok());
  REQUIRE(made->publisher);
  // The public key of RFC 8032, section 7.1, test 1.
  CHECK(to_hex(made->publisher->key) ==
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  CHECK(made->id == sample().id);
  CHECK(with_trackers(*made, {})->publisher.has_value());

  const auto with = [&](const std::function<void(wire::Envelope&)>& change) {
    wire::Envelope envelope = envelope_of(*made);
    change(envelope);
    const auto parsed = parse_manifest(sealed(envelope.SerializeAsString()));
    return parsed.ok() ? std::optional<ErrorCode>() : parsed.error().code;
  };
  CHECK_FALSE(with([](auto&) {}));
  CHECK(with([](auto& e) { (*e.mutable_publisher_signature())[5] ^= 1; }) == ErrorCode::kCorrupt);
  CHECK(with([](auto& e) { (*e.mutable_publisher_key())[5] ^= 1; }) == ErrorCode::kCorrupt);
  CHECK(with([](auto& e) { e.clear_publisher_key(); }) == ErrorCode::kBadInput);
  CHECK(with([](auto& e) { e.clear_publisher_signature(); }) == ErrorCode::kBadInput);
  CHECK(with([](auto& e) { e.mutable_publisher_key()->push_back('x'); }) == ErrorCode::kBadInput);
  CHECK(with([](auto& e) {
          Info other = sample_info();
          other.name = "other";
          e.set_info(envelope_of(*make_manifest(other, {})).info());
        }) == ErrorCode::kCorrupt);
  CHECK_FALSE(sign_manifest(sample(), bytes_of("short")).ok());
}

TEST_CASE("what is no manifest file says so") {
  for (const std::string& text : {std::string(), std::string("FIRNMAN2") + std::string(64, 'x'),
                                  std::string("d8:announce"), std::string("FIRNMAN")}) {
    const auto parsed = parse_manifest(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().code == ErrorCode::kBadInput);
    CHECK(has(parsed.error(), "no manifest file"));
  }
  CHECK(has(parse_manifest(sealed("")).error(), "no info part"));
  CHECK(has(parse_manifest(sealed("\xff")).error(), "malformed"));
  CHECK_FALSE(manifest_content_id(sealed("")).ok());
  CHECK_FALSE(manifest_content_id(sealed("\xff")).ok());
}

TEST_CASE("unsafe paths in a manifest are refused, and named") {
  for (const char* path : {"/a", "../a", "a/../../b", "", "a\\b", "NUL", ".firn/x", "a/", "b."}) {
    CAPTURE(path);
    const Error error = fault([&](auto& info) { info.mutable_files(1)->set_path(path); });
    CHECK(error.code == ErrorCode::kBadInput);
    CHECK(has(error, path));
  }
  CHECK(has(fault([](auto& info) { info.mutable_files(1)->set_path("a\nb"); }), "file 1"));
  std::string deep = "f";
  for (std::size_t i = 0; i < limits::kPathComponentsMax; ++i) deep.insert(0, "d/");
  CHECK(has(fault([&](auto& i) { i.mutable_files(1)->set_path(deep); }), "128 components"));
  for (const char* name : {"", "..", "a/b", "/", ".firn", "con", "a\n"}) {
    CAPTURE(name);
    CHECK(has(fault([&](auto& info) { info.set_name(name); }), "name"));
  }
}

TEST_CASE("paths that are there twice or run through a file are refused") {
  const auto paths = [](const std::vector<std::string>& names, bool directory = false) {
    Info info = sample_info();
    info.files.clear();
    for (const std::string& name : names) info.files.push_back({.path = name});
    if (directory) info.files[0].kind = FileEntry::Kind::kFolder;
    info.shape.content_bytes = 0;
    info.generation_digests.clear();
    const auto made = make_manifest(info, {});
    return made.ok() ? std::string() : made.error().detail;
  };
  const auto contains = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(contains(paths({"a", "b", "a"}), "'a' is there twice"));
  CHECK(contains(paths({"a/b", "a"}), "'a/b' lies below it"));
  // With plain byte order "a!" would stand between "a" and "a/b".
  CHECK(contains(paths({"a", "a!", "a/b"}), "'a/b' lies below it"));
  CHECK(contains(paths({"x/y/z/w", "a", "x/y"}), "'x/y/z/w' lies below it"));
  CHECK(contains(paths({"a", "a/b"}, true), "lies below it"));
  CHECK(paths({"a", "ab", "a.b", "a!", "b/a", "b/ab"}) == "");
  CHECK(paths({"readme", "README", "ReadMe"}) == "");  // allowed: see check_content_path
}

TEST_CASE("paths may go through as many folders as there may be files, and no more") {
  Info info = sample_info();
  info.files.clear();
  info.shape.content_bytes = 0;
  info.generation_digests.clear();
  std::string below;
  for (std::size_t i = 2; i < limits::kPathComponentsMax; ++i) below += "d/";
  const std::size_t folders = limits::kPathComponentsMax - 1;  // of each path
  const std::size_t paths = limits::kFolderCountMax / folders;
  for (std::size_t i = 0; i < paths; ++i)
    info.files.push_back({.path = std::to_string(i) + "/" + below + "f"});
  for (std::size_t i = paths * folders; i < limits::kFolderCountMax; ++i)
    info.files.push_back({.path = "0/" + std::to_string(i) + "/f"});
  info.files.push_back({.path = "0/d/d/g"});  // through folders that are there
  CHECK(make_manifest(info, {}).ok());
  info.files.push_back({.path = "one more/f"});
  CHECK(has(make_manifest(info, {}).error(), "more than 1048576 folders"));
}

TEST_CASE("a content that is one file has one entry without a path") {
  Info info = info_of_shape(4, 16, 64);
  CHECK(make_manifest(info, {}).ok());
  Info with_path = info;
  with_path.files[0].path = "x";
  CHECK(has(make_manifest(with_path, {}).error(), "has a path"));
  Info two = info;
  two.files.push_back({});
  CHECK(has(make_manifest(two, {}).error(), "2 are listed"));
  Info none = info_of_shape(4, 16, 0);
  none.files.clear();
  CHECK(has(make_manifest(none, {}).error(), "0 are listed"));
  Info folder = info_of_shape(4, 16, 0);
  folder.files[0].kind = FileEntry::Kind::kFolder;
  CHECK(has(make_manifest(folder, {}).error(), "is a folder"));
}

TEST_CASE("empty contents are contents") {
  CHECK(make_manifest(info_of_shape(64, 16384, 0), {}).ok());
  Info folder = info_of_shape(64, 16384, 0);
  folder.single_file = false;
  folder.files.clear();
  const auto made = make_manifest(folder, {});
  REQUIRE(made.ok());
  CHECK(made->info.shape.generation_count() == 0);
  CHECK(made->info.files.empty());
}

TEST_CASE("shapes are taken up to their bounds and no further") {
  const auto ok = [](std::uint32_t n, std::uint32_t k, std::uint64_t bytes) {
    return make_manifest(info_of_shape(n, k, bytes), {}).ok();
  };
  CHECK(ok(1, 1, 1));
  CHECK(ok(limits::kGenerationSizeMax, 16384, 1));
  CHECK(ok(64, limits::kBlockBytesMax, 64ull << 20));
  CHECK_FALSE(ok(65, limits::kBlockBytesMax, 1));  // n k above its bound
  CHECK_FALSE(ok(0, 16, 0));
  CHECK_FALSE(ok(16, 0, 0));
  CHECK_FALSE(ok(limits::kGenerationSizeMax + 1, 1, 1));
  CHECK_FALSE(ok(1, limits::kBlockBytesMax + 1, 1));
  CHECK_FALSE(ok(0xffffffff, 0xffffffff, 1));
  CHECK(ok(2, 2, 4ull << 20));  // as many generations as there may be
  CHECK_FALSE(ok(2, 2, (4ull << 20) + 1));
  CHECK_FALSE(ok(64, 16384, ~std::uint64_t{0}));
}

TEST_CASE("sizes, sums, modes and digests must fit") {
  CHECK(has(fault([](auto& i) { i.set_content_bytes(30); }), "add up to more"));
  CHECK(has(fault([](auto& i) { i.set_content_bytes(32); }), "add up to 31"));
  CHECK(has(fault([](auto& i) { i.mutable_files(0)->set_bytes(~std::uint64_t{0}); }), "add up"));
  CHECK(has(fault([](auto& i) {  // a sum that would wrap around to the right one
              i.mutable_files(0)->set_bytes(~std::uint64_t{0});
              i.mutable_files(1)->set_bytes(32);
            }),
            "add up"));
  CHECK(has(fault([](auto& i) { i.mutable_files(0)->set_mode(01000); }), "mode"));
  CHECK(has(fault([](auto& i) {
              i.mutable_files(0)->set_bytes(0);
              i.mutable_files(3)->set_bytes(13);
            }),
            "has bytes"));
  CHECK(has(fault([](auto& i) { i.set_version(3); }), "version 3"));
  CHECK(has(fault([](auto& i) { i.clear_version(); }), "version 0"));
  CHECK(has(fault([](auto& i) { i.mutable_generation_digests()->pop_back(); }), "cut"));
  CHECK(has(fault([](auto& i) { i.mutable_generation_digests()->resize(64); }), "2 digests"));
  CHECK(has(fault([](auto& i) { i.mutable_generation_digests()->resize(128); }), "4 digests"));
  CHECK(fault([](auto& i) { (*i.mutable_generation_digests())[40] ^= 1; }).code ==
        ErrorCode::kCorrupt);
  CHECK(fault([](auto& i) { (*i.mutable_root())[0] ^= 1; }).code == ErrorCode::kCorrupt);
  CHECK(fault([](auto& i) { i.clear_root(); }).code == ErrorCode::kCorrupt);
}

TEST_CASE("hash, digests of files, kinds and the authority's key must be ones that are known") {
  CHECK(has(fault([](auto& i) { i.set_hash(wire::HASH_UNSPECIFIED); }), "number 0"));
  CHECK(has(fault([](auto& i) { i.set_hash(static_cast<wire::Hash>(2)); }), "number 2"));
  CHECK(has(fault([](auto& i) { i.mutable_files(1)->clear_digest(); }), "file 1"));
  CHECK(has(fault([](auto& i) { i.mutable_files(1)->mutable_digest()->pop_back(); }), "file 1"));
  CHECK(
      has(fault([](auto& i) { i.mutable_files(3)->set_digest(std::string(32, 'x')); }), "file 3"));
  CHECK(has(
      fault([](auto& i) { i.mutable_files(4)->set_kind(static_cast<wire::FileEntry::Kind>(3)); }),
      "file 4"));
  CHECK(has(fault([](auto& i) { i.set_authority_key("short"); }), "authority"));
  CHECK(has(fault([](auto& i) { i.mutable_files(0)->set_target("x"); }), "no link"));

  Info info = sample_info();
  info.authority_key = std::string(32, 'a');
  const auto made = make_manifest(info, {});
  REQUIRE(made.ok());
  CHECK(made->info.authority_key == info.authority_key);
  CHECK(made->id != sample().id);
}

TEST_CASE("a link may point to what lies in the content, whatever it goes through") {
  const auto ok = [](std::string_view path, std::string_view target) {
    return check_link_target(path, target).ok();
  };
  CHECK(ok("link", "file"));
  CHECK(ok("link", "a/b/c"));
  CHECK(ok("a/link", "../file"));
  CHECK(ok("a/b/link", "../../c/d"));
  CHECK(ok("a/b/link", ".."));
  CHECK(ok("a/b/link", "../.."));
  CHECK(ok("link", "nobody has seen it"));
  CHECK_FALSE(ok("link", ""));
  CHECK_FALSE(ok("link", "/etc/passwd"));
  CHECK_FALSE(ok("link", ".."));
  CHECK_FALSE(ok("link", "../neighbour"));
  CHECK_FALSE(ok("a/link", "../../x"));
  // d/up -> ../.. leads to the content's folder; one more ".." behind it would lead out.
  CHECK(ok("d/e/up", "../.."));
  CHECK_FALSE(ok("link", "d/e/up/.."));
  CHECK_FALSE(ok("link", "a//b"));
  CHECK_FALSE(ok("link", "a/"));
  CHECK_FALSE(ok("link", "./a"));
  CHECK_FALSE(ok("link", "a\\b"));
  CHECK_FALSE(ok("link", std::string_view("a\0b", 3)));
  CHECK_FALSE(ok("link", "a\nb"));
  CHECK_FALSE(ok("link", std::string(5000, 'x')));
  CHECK(has(fault([](auto& i) { i.mutable_files(4)->set_target("../out"); }), "points out"));
  CHECK(has(fault([](auto& i) { i.mutable_files(4)->clear_target(); }), "empty"));
}

TEST_CASE("more files than allowed are refused before they are read") {
  std::string info;
  for (std::size_t i = 0; i <= limits::kFileCountMax; ++i) info.append("\x22\x00", 2);
  wire::Envelope envelope;
  envelope.set_info(info);
  const auto parsed = parse_manifest(sealed(envelope.SerializeAsString()));
  REQUIRE_FALSE(parsed.ok());
  CHECK(has(parsed.error(), "more than 1048576 files"));
}

TEST_CASE("text that is not UTF-8 makes protobuf write nothing to stderr") {
  static int complaints = 0;
  auto* const before = google::protobuf::SetLogHandler(
      [](google::protobuf::LogLevel, const char*, int, const std::string&) { ++complaints; });
  for (const char* info : {
           "1201ff",        // a name
           "22030a01ff",    // a file's path
           "227f0a01ff",    // the same in an entry that runs past the end
           "22050a01ff08",  // and in one that is cut
       }) {
    wire::Envelope envelope;
    envelope.set_info(from_hex(info));
    CHECK_FALSE(parse_manifest(sealed(envelope.SerializeAsString())).ok());
  }
  CHECK_FALSE(parse_manifest(sealed(from_hex("0a0108 1201ff"))).ok());  // a tracker
  wire::Info noisy;
  CHECK_FALSE(noisy.ParseFromString(from_hex("1201ff")));  // as it does without our care
  google::protobuf::SetLogHandler(before);
  CHECK(complaints == 1);
}

TEST_CASE("fields of later versions stay where they are") {
  wire::Envelope envelope = envelope_of(sample());
  std::string bytes = envelope.SerializeAsString() + from_hex("a20603 616263");
  const auto parsed = parse_manifest(sealed(bytes));
  REQUIRE(parsed.ok());
  CHECK(parsed->id == sample().id);
  const auto changed = with_trackers(*parsed, {});
  REQUIRE(changed.ok());
  CHECK(changed->file_bytes.find("abc") != std::string::npos);
}

TEST_CASE("that a content is private is part of what its id names") {
  Info info = sample_info();
  const Manifest open = *make_manifest(info, {});
  info.is_private = true;
  const Manifest closed = *make_manifest(info, {});
  CHECK(closed.id != open.id);
  CHECK_FALSE(parse_manifest(open.file_bytes)->info.is_private);
  CHECK(parse_manifest(closed.file_bytes, closed.id)->info.is_private);
}

TEST_CASE("an envelope holds so many fields and bytes beside the info part, and no more") {
  const std::string envelope = envelope_of(sample()).SerializeAsString();  // info and a tracker
  const auto with = [&](const std::string& more) {
    const auto parsed = parse_manifest(sealed(envelope + more));
    if (!parsed.ok()) CHECK(has(parsed.error(), "beside the info part"));
    return parsed.ok();
  };
  const auto fields = [](std::size_t count) {
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i) bytes += from_hex("a20600");
    return bytes;
  };
  CHECK(with(fields(limits::kEnvelopeFieldsMax - 2)));
  CHECK_FALSE(with(fields(limits::kEnvelopeFieldsMax - 1)));
  const auto field_of = [](std::size_t bytes) {
    std::string length;  // of field 100, as a varint
    std::size_t rest = bytes;
    for (; rest >= 0x80; rest >>= 7) length += static_cast<char>(rest | 0x80);
    length += static_cast<char>(rest);
    return from_hex("a206") + length + std::string(bytes, 'x');
  };
  const std::size_t beside = envelope.size() - envelope_of(sample()).info().size();
  const std::size_t room = limits::kEnvelopeBytesMax - beside - 5;  // tag and length of the field
  CHECK(with(field_of(room)));
  CHECK_FALSE(with(field_of(room + 1)));
  const std::string again = envelope + envelope;  // the last info counts
  CHECK(parse_manifest(sealed(again))->id == sample().id);
}
