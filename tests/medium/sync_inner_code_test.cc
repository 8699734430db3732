#include "client/medium/sync_inner_code.h"

#include <doctest/doctest.h>

#include "client/medium/groups.h"
#include "client/medium/mark.h"
#include "codec/random.h"
#include "proto/base/digest.h"

namespace firn::medium {
namespace {

std::vector<std::uint8_t> random_word(std::size_t bytes, codec::CoefficientStream& random) {
  std::vector<std::uint8_t> word(bytes);
  random.fill(word);
  return word;
}

TEST_CASE("words that follow each other are read without their boundaries being known") {
  for (const InnerShape shape :
       {InnerShape{8, 16, 4, 1}, InnerShape{10, 64, 4, 1}, InnerShape{12, 16, 6, 1}}) {
    CAPTURE(shape.alphabet);
    CAPTURE(shape.codeword_bits);
    const Rates rates{0.003, 0.003, 0.001};
    const auto inner = SyncInnerCode::make(shape, 100, rates);
    REQUIRE(inner.ok());
    codec::CoefficientStream random(90, shape.alphabet);
    std::vector<std::vector<std::uint8_t>> words;
    Bits sent = (*inner)->mark();
    for (int i = 0; i < 6; ++i) {
      words.push_back(random_word(100, random));
      const Bits more = (*inner)->encode(words.back());
      CHECK(more.size() == (*inner)->word_bits());
      sent.insert(sent.end(), more.begin(), more.end());
    }
    sent.insert(sent.end(), (*inner)->mark().begin(), (*inner)->mark().end());
    const Bits received = codec::sync::transmit(sent, {0.003, 0.003, 0.001}, random);

    MarkFinder finder((*inner)->mark());
    std::optional<FoundMark> mark;
    for (std::size_t i = 0; i < received.size() && !mark; ++i) mark = finder.next(received[i]);
    REQUIRE(mark);
    Boundary boundary = mark->end;
    std::size_t wrong = 0;
    for (const auto& word : words) {
      const WordReading reading = (*inner)->read({0, received}, boundary);
      REQUIRE(reading.found);
      for (std::size_t i = 0; i < word.size(); ++i) {
        if (reading.word[i] == word[i]) continue;
        ++wrong;
      }
      boundary = reading.end;
    }
    // A symbol in 2,000 or so is wrong; without the boundaries all would be.
    CHECK(wrong < 12);
  }
}

// Media outlive the program that wrote them.
TEST_CASE("a word and a mark have the bits that they always had") {
  struct Row {
    InnerShape shape;
    std::string digest;
  };
  for (const Row& row :
       {Row{{8, 16, 4, 1}, "hmxcqfw2um5zzg5f4iww34abum5wduflq45mnoucda5nndrh37na"},
        Row{{10, 64, 4, 1}, "nxwvm4ijcbuzowpv32hd7cbcrogttvhabygqx3ffvvjdsgm2muuq"},
        Row{{12, 16, 6, 1}, "yzd6hrd6niti4ej3s4igcn4zjkoj5yaiznlg4clyl4db6l5chrwq"},
        Row{{9, 32, 0, 5}, "jwuew4yho4wbznrfvdfv4q3tsemopjox3evxhqhxhgftwcpmmdxa"}}) {
    CAPTURE(int{row.shape.codeword_bits});
    const auto inner = SyncInnerCode::make(row.shape, 101, {0.01, 0.01, 0});
    REQUIRE(inner.ok());
    codec::CoefficientStream random(92, row.shape.alphabet);
    Bits bits = (*inner)->encode(random_word(101, random));
    bits.insert(bits.end(), (*inner)->mark().begin(), (*inner)->mark().end());
    CHECK(sha256(bits).text() == row.digest);
  }
}

TEST_CASE("codebooks that cannot be made, and rates that are none, are refused") {
  CHECK_FALSE(SyncInnerCode::make({7, 16, 4, 1}, 100, {0.01, 0.01, 0}).ok());
  CHECK_FALSE(SyncInnerCode::make({8, 12, 4, 1}, 100, {0.01, 0.01, 0}).ok());
  CHECK_FALSE(SyncInnerCode::make({8, 16, 4, 1}, 100, {0.7, 0.5, 0}).ok());
}

TEST_CASE("the same code is read as from another channel") {
  const auto mild = SyncInnerCode::make({8, 16, 4, 1}, 100, {0.001, 0.001, 0});
  REQUIRE(mild.ok());
  const auto rough = (*mild)->with_rates({0.01, 0.01, 0});
  const auto made = SyncInnerCode::make({8, 16, 4, 1}, 100, {0.01, 0.01, 0});
  REQUIRE(rough.ok());
  REQUIRE(made.ok());
  codec::CoefficientStream random(94, 0);
  const auto word = random_word(100, random);
  CHECK((*rough)->encode(word) == (*mild)->encode(word));
  CHECK((*rough)->mark() == (*mild)->mark());
  CHECK((*rough)->bits_behind() == (*made)->bits_behind());
  CHECK((*rough)->bits_behind() > (*mild)->bits_behind());
  CHECK_FALSE((*mild)->with_rates({0.7, 0.5, 0}).ok());
}

TEST_CASE("words that are shorter than a mark are refused") {
  const Rates rates{0.01, 0.01, 0};
  CHECK(SyncInnerCode::make({8, 256, 0, 1}, kMarkBits / 8, rates).ok());
  CHECK_FALSE(SyncInnerCode::make({8, 256, 0, 1}, kMarkBits / 8 - 1, rates).ok());
}

TEST_CASE("a whole medium is read behind a channel of 1 % insertions and deletions") {
  Label label;
  label.content.bytes.fill(3);
  label.planned = {0.01, 0.01, 0};
  label.data_bytes = 231;
  label.manifest_bytes = 100;
  label.block_bytes = 223;
  label.place_count = 20;
  const auto inner = SyncInnerCode::make(label.inner, label.word_bytes, label.planned);
  REQUIRE(inner.ok());
  const auto labels = std::make_shared<LabelCode>();
  const GroupWriter writer(label, *inner, labels);
  const GroupReader reader(label, *inner);
  const auto payload_of = [](std::uint64_t place) {
    return std::vector<std::uint8_t>(223, static_cast<std::uint8_t>(place));
  };
  Bits sent;
  for (std::uint64_t group = 0; group < label.group_count(); ++group) {
    const Bits more = writer.group(group, payload_of);
    sent.insert(sent.end(), more.begin(), more.end());
  }
  const Bits end = writer.ending();
  sent.insert(sent.end(), end.begin(), end.end());
  codec::CoefficientStream random(91, 0);
  Bits received = codec::sync::transmit(sent, {0.01, 0.01, 0}, random);
  MarkFinder marks(reader.mark()), label_marks(label_mark());
  const Window window{0, received};
  std::size_t labels_read = 0, frames = 0, lost = 0;
  for (std::size_t i = 0; i < received.size() + MarkFinder::kReach; ++i) {
    const std::uint8_t bit = i < received.size() ? received[i] : 0;
    if (const auto mark = marks.next(bit)) {
      const GroupReading group = reader.read(window, mark->end);
      for (const auto& frame : group.frames) CHECK(frame.payload == payload_of(frame.place));
      frames += group.frames.size();
      lost += group.lost;
    }
    if (const auto mark = label_marks.next(bit)) {
      const auto read = labels->read(window, mark->end);
      if (read) CHECK(read->same_medium(label));
      labels_read += read ? 1 : 0;
    }
  }
  CHECK(labels_read == 4);
  CHECK(frames >= 18);
  CHECK(lost <= 2);
}

}  // namespace
}  // namespace firn::medium
