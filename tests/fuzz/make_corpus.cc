// Writes the seeds of the corpora anew: make_corpus tests/fuzz/corpus. Inputs that fuzzing found,
// and messages of the last version (retired-*), lie beside them and stay.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "proto/base/base64url.h"
#include "proto/content/link.h"
#include "proto/content/sealed_manifest.h"
#include "proto/messages.h"
#include "proto/wire.h"
#include "tests/proto/random_messages.h"
#include "tests/proto/sample_manifest.h"
#include "tests/proto/wire_frames.h"
#include "tests/transport/proxy_headers.h"
#include "tracker/redis/commands.h"
#include "tracker/redis/records.h"

using namespace firn;
using namespace firn::test;

namespace {

class Corpus {
 public:
  Corpus(const std::filesystem::path& root, const char* target) : folder_(root / target) {
    std::filesystem::create_directories(folder_);
  }
  void add(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / ("seed-" + name), std::ios::binary) << bytes;
  }

 private:
  std::filesystem::path folder_;
};

// A seed is small, so that mutations hit what matters.
constexpr std::size_t kSeedBytesMax = 300;

void proofs(const Corpus& peer) {
  proto::Hello speaker;
  speaker.certificate.assign(64, 's');
  peer.add("hello-certificate", message_in(serialize(proto::PeerMessage(speaker))));
  const proto::CheckReply sums{3, std::vector<std::uint8_t>(32, 'k'), {1, 2, 3, 4, 5, 6, 7, 8}};
  peer.add("check-reply", message_in(serialize(proto::PeerMessage(sums))));
  proto::State plain;
  plain.credit = 300;
  plain.generations = {
      {.generation = 3, .rank = 5, .quota = 3, .null_vector = {}, .wanted_blocks = {0x54}}};
  peer.add("state-wanted-blocks", message_in(serialize(proto::PeerMessage(plain))));
  proto::State accusing;
  accusing.convicted = {0xa1a2a3a4a5a6a7a8, 1};
  peer.add("state-convicted", message_in(serialize(proto::PeerMessage(accusing))));
  const proto::LeafReply leaves{3, {Digest{}, Digest{}}};
  peer.add("leaf-reply", message_in(serialize(proto::PeerMessage(leaves))));
  proto::PrivateProof proof;
  proof.proof.fill('p');
  peer.add("private-proof", message_in(serialize(proto::PeerMessage(proof))));
}

void messages(const std::filesystem::path& root) {
  const Corpus peer(root, "peer_message"), tracker(root, "tracker_message"),
      frames(root, "frame_reader");
  RandomMessages random(1);
  std::string stream;
  for (std::size_t kind = 0; kind < kSentKinds;) {
    proto::PeerMessage message = random.peer_message();
    if (auto* block = std::get_if<proto::Block>(&message))
      block->payload = proto::Payload::copy_of(bytes_of("small payload"));
    const proto::OutgoingFrame frame = serialize(message);
    if (message.index() != kind || frame.bytes() > kSeedBytesMax) continue;
    peer.add(std::to_string(kind), message_in(frame));
    stream += whole(frame);
    frames.add(std::to_string(kind), stream);
    ++kind;
  }
  proto::State lost;
  lost.credit = 300;
  lost.complete = {{0, 3}};
  lost.unwanted = {{17, 1}, {20, 2}};
  lost.withdrawn = {{17, 1}, {20, 1}};
  peer.add("state-withdrawn", message_in(serialize(proto::PeerMessage(lost))));
  proto::State strict;
  strict.credit = 300;
  strict.proven_only = true;
  strict.received = {{.peer_prefix = 0xa1a2a3a4a5a6a7a8, .blocks = 5}, {.peer_prefix = 1}};
  peer.add("state-proven-only", message_in(serialize(proto::PeerMessage(strict))));
  proto::State trusting;
  trusting.credit = 300;
  trusting.trusted_only = true;
  peer.add("state-trusted-only", message_in(serialize(proto::PeerMessage(trusting))));
  const proto::CheckRequest keyed{{3, 7}, std::vector<std::uint8_t>(limits::kCheckKeyBytes, 9)};
  peer.add("check-request-key", message_in(serialize(proto::PeerMessage(keyed))));
  proofs(peer);
  peer.add("unknown-kind", "\x8a\x01\x02\x08\x01");  // 17
  frames.add("empty-frame", stream + std::string(4, '\0') + stream);
  frames.add("large-frame", stream + std::string("\x7f\0\0\0", 4) + stream);

  const auto add_tracker = [&](const std::string& name, const proto::OutgoingFrame& frame) {
    if (frame.bytes() > kSeedBytesMax) return false;
    tracker.add(name, message_in(frame));
    return true;
  };
  for (std::size_t kind = 0; kind < std::variant_size_v<proto::TrackerRequest>;) {
    const proto::TrackerRequest request = random.tracker_request();
    if (request.index() == kind &&
        add_tracker("request-" + std::to_string(kind), serialize(request)))
      ++kind;
  }
  for (std::size_t kind = 0; kind < std::variant_size_v<proto::TrackerReply>;) {
    const proto::TrackerReply reply = random.tracker_reply();
    if (reply.index() == kind && add_tracker("reply-" + std::to_string(kind), serialize(reply)))
      ++kind;
  }
}

void manifests(const std::filesystem::path& root) {
  const Corpus corpus(root, "manifest");
  const auto add = [&](const std::string& name, const Manifest& manifest) {
    const std::string& file = manifest.file_bytes;
    const std::string envelope = file.substr(8, file.size() - 8 - 32);
    wire::Envelope parsed;
    FIRN_CHECK(parsed.ParseFromString(envelope));
    corpus.add(name + "-file", std::string(1, '\0') + file);
    corpus.add(name + "-envelope", "\x01" + envelope);
    corpus.add(name + "-info", "\x02" + parsed.info());
  };
  const Manifest sample = *make_manifest(
      sample_info(), {*parse_address("tracker.example:7000"), *parse_address("[::1]:7000")});
  add("folder", sample);
  add("signed", *sign_manifest(sample, bytes_of(std::string(32, 's'))));
  const std::vector<std::string> urls = {"https://a.example/x/", "s3://bucket/x/"};
  const Manifest named = *with_origins(*make_manifest(info_of_shape(4, 16, 70), {}), urls);
  add("origins", named);
  add("signed-origins", *sign_manifest(named, bytes_of(std::string(32, 's'))));
  add("single", *make_manifest(info_of_shape(4, 16, 70), {}));
  add("empty", *make_manifest(info_of_shape(64, 16384, 0), {}));
}

void sealed_manifests(const std::filesystem::path& root) {
  const Corpus corpus(root, "sealed_manifest");
  const std::string head = std::string(kSealedMagic) + std::string(kSealNonceBytes, 'n');
  corpus.add("stranger", std::string(1, '\0') + head);
  corpus.add("nonsense", "\x01" + head + "nonsense");
  corpus.add("manifest", "\x02" + (*make_manifest(info_of_shape(4, 16, 70), {})).file_bytes);
}

void links(const std::filesystem::path& root) {
  const Corpus corpus(root, "link");
  const std::string id = ContentId{}.text();
  corpus.add("bare", "firn:" + id);
  corpus.add("trackers", "firn:" + id + "?tr=a.example:7000&tr=%5B2001:db8::1%5D:7000");
  corpus.add("peers", "firn:" + id + "?x=y&peer=" + id + "@10.0.0.1:7#end");
  const ContentSecret secret{ContentSecret::View(ContentId{}.bytes)};
  corpus.add("private", "firn:" + id + "." + secret.text(ContentId{}) + "?tr=a.example:7000");
  corpus.add("parts", "firn:" + id + "/pub=" + id + "/tr=a.example:7000/x=y/peer=" + id +
                          "@2001:db8::1:7/peer=fe80::1+eth0:7/");
  corpus.add("parts-private", "firn:" + id + "." + secret.text(ContentId{}) + "/tr=a.example");
  corpus.add("origins", "firn:" + id + "/ws=" + base64url_encode("https://a.example/x/") +
                            "/ws=" + base64url_encode("s3://b/x?y") + "?ws=aHR0cDovL2E");
  corpus.add("mixed", " firn:" + id + "/tr=::1:7?tr=%5B::1%5D:7&pub=" + id + "#end");
  corpus.add("address", id + "@[fe80::1%eth0]:7000");
  corpus.add("path",
             "folder/with some/Gr\xc3\xbc\xc3\x9f"
             "e.txt");
  corpus.add("bad-path", "a/../con.txt/.firn/ .");
}

void configs(const std::filesystem::path& root) {
  const Corpus corpus(root, "config");
  corpus.add("options",
             "up-limit = \"10M\"\nmax-peers = 40\njson = false\n"
             "[get]\ntracker = [\"a.example\", \"[::1]:7\"]\n");
  corpus.add("tables", "[bench.codec]\nthreads = 0x10\n[medium]\nrate = 1e-3\nloss = inf\n");
  corpus.add("others",
             "a.b.\"c d\" = '''x\ny'''\nd = 2026-01-01T00:00:00Z\n"
             "e = {f = [1, [2]], g = nan}\n[[h]]\n");
  corpus.add("broken", "a = \"\\u0000\\u202e\"\nb = \n");
}

void file_choices(const std::filesystem::path& root) {
  const Corpus corpus(root, "file_choice");
  corpus.add("names", "file:*.mkv\nskip:extras/\n\na.mkv\nextras/b.mkv\nempty/\n");
  corpus.add("paths", "skip:x/**/[!a-c]?\nfile:/x/**\nselect:1,3-4\n\nx/d1\nx/y/e2\nx/a3\nz\n");
  corpus.add("brackets", "file:[Group] Film [1080p].mkv\nfile:\\[*\n\n[Group] Film [1080p].mkv\n");
  corpus.add("near", "file:*.MKB\n\nx/film.mkv\nx/\u00fcber\xff\ny/\n");
  corpus.add("bad", "select:3-1,0\nonly:x\n\na\n");
}

void byte_ranges(const std::filesystem::path& root) {
  const Corpus corpus(root, "byte_range");
  corpus.add("part", "bytes=10-19\n1000");
  corpus.add("open", "Bytes= 990-\n1000");
  corpus.add("suffix", "bytes=-10\n18446744073709551615");
  corpus.add("several", "bytes=0-1, -5\n7");
  corpus.add("behind", "bytes=99999999999999999999-\n0");
}

void stream_paths(const std::filesystem::path& root) {
  const Corpus corpus(root, "stream_path");
  const std::string content = ContentId{}.text();
  corpus.add("file", "/stream/" + content + "/a b/\u00fc?#%.mkv\na.mkv\nb/c.TXT\n\nd.flac");
  corpus.add("playlist", "/playlist/" + content + ".m3u8\n#EXTM3U\r.mp3\n\u2028\xff.ogg");
  corpus.add("none", "/stream/" + content.substr(1) + "/x\nhttp://x/y.mp4");
}

void origins(const std::filesystem::path& root) {
  const Corpus urls(root, "origin_url");
  urls.add("parts",
           "https://u:p%40w@Example.org:8443/a%20b/c?X-Amz-Signature=abc&v=1#x\neu-west-1");
  urls.add("folder", "http://[2001:db8::1]:81/folder/?token\na b/c?d#e%.bin");
  urls.add("bucket", "s3://bucket.name/key (1)/x\ncn-north-1");
  urls.add("backslash", "http://h\\@evil/x");
  urls.add("header", "X-Token: a");
  // The first byte says what was asked for: see origin_answer.cc.
  const Corpus answers(root, "origin_answer");
  answers.add("part",
              "\rHTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Range: bytes 0-4/100\r\n"
              "Content-Length: 5\r\n\r\n");
  answers.add("whole",
              "\x01HTTP/2 200\r\ncontent-length: 5\r\n"
              "last-modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  answers.add("unsatisfiable", "\x05HTTP/1.1 416 Not Satisfiable\r\nContent-Range: bytes */7\r\n");
  answers.add("busy",
              " HTTP/1.1 503 Busy\r\nRetry-After: Tue, 14 Nov 2023 22:13:30 GMT\r\n"
              "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n");
  answers.add("region", " HTTP/1.1 301 Moved\r\nx-amz-bucket-region: eu-west-3\r\n");
}

void proxy_headers(const std::filesystem::path& root) {
  namespace made = proto::transport::test;
  const Corpus corpus(root, "proxy_header");
  using Octets = std::vector<std::uint8_t>;
  const auto add = [&corpus](const std::string& name, const Octets& header) {
    corpus.add(name, std::string(header.begin(), header.end()) + "\x16\x03\x01");
  };
  Octets with_tlv = made::kIpv4Addresses;
  for (const int byte : {0x03, 0x00, 0x04, 1, 2, 3, 4})
    with_tlv.push_back(static_cast<std::uint8_t>(byte));
  add("ipv4", made::proxy_header(0x21, 0x11, with_tlv));
  add("ipv6", made::proxy_header(0x21, 0x21, made::kIpv6Addresses));
  add("unix", made::proxy_header(0x21, 0x31, Octets(216, 'p')));
  add("local", made::proxy_header(0x20, 0x00, {}));
  add("none", made::proxy_header(0x21, 0x00, Octets(20)));
  add("short", made::proxy_header(0x21, 0x21, made::kIpv4Addresses));
  add("version-1", made::proxy_header(0x11, 0x11, made::kIpv4Addresses));
}

// Answers as redis.cc reads them.
std::string small(int value) {
  return {'\x02', static_cast<char>(value)};
}
std::string text(const std::string& bytes) {
  return std::string{'\x04', static_cast<char>(bytes.size())} + bytes;
}
std::string list(const std::vector<std::string>& replies) {
  std::string all{'\x03', static_cast<char>(replies.size())};
  for (const std::string& one : replies) all += one;
  return all;
}

void redis(const std::filesystem::path& root) {
  const Corpus corpus(root, "redis");
  using namespace firn::tracker;
  std::string changes;
  PackedPeer peer = pack(Peer{{{}, "10.0.0.1", 4000}, true});
  append_change(changes, {{}, peer, false, Time(5)}, Time(10));
  peer = pack(Peer{{{}, "2001:db8::1", 4000}, false});
  append_change(changes, {{}, peer, false, Time(5)}, Time(10));
  append_change(changes, {{}, {}, true, Time(5)}, Time(10));
  corpus.add("changes", std::string(1, '\0') + changes);
  corpus.add("record", std::string(1, '\0') + peer_record(peer));
  corpus.add("address", "\x01redis://me:%41word@[::1]:7000/3");
  corpus.add("address-tls", "\x01rediss://:word@host/0");
  corpus.add("address-unix", "\x01unix:///run/redis.sock?2");
  const std::string nothing(1, '\0');
  std::string turn = list({small(1), small(3)}) + small(1) + small(0);
  for (int i = 0; i < 5; ++i) turn += nothing;
  const Keys keys("p:");
  corpus.add("conversation", "\x02" + turn + text("1") + nothing +
                                 list({small(100), text("5-0"), small(1), small(0), small(3),
                                       text(changes.substr(0, 75)), text(std::string(32, 'c'))}) +
                                 list({text("7"), list({text(keys.seen({})), text("p:other")})}));
  corpus.add("refusal", "\x02\x05\x09WRONGTYPE\x05\x05MOVED");
}

}  // namespace

int main(int count, char** arguments) {
  FIRN_CHECK(count == 2);
  messages(arguments[1]);
  manifests(arguments[1]);
  sealed_manifests(arguments[1]);
  links(arguments[1]);
  configs(arguments[1]);
  file_choices(arguments[1]);
  byte_ranges(arguments[1]);
  stream_paths(arguments[1]);
  origins(arguments[1]);
  proxy_headers(arguments[1]);
  redis(arguments[1]);
}
