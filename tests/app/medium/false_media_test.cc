// Media whose frames pass their checks and hold other bytes than the manifest's.
#include <doctest/doctest.h>

#include "client/store/content_store.h"
#include "tests/app/medium/media_without_bits.h"

namespace firn::app {
namespace {

void spoil_all(std::uint64_t, std::vector<std::uint8_t>& payload) {
  payload[0] ^= 1;
}

// All of a medium but one source block of each generation, for which spare rows stand in.
Media::Places without_row(const Media& source, const medium::Label& label, std::uint32_t row) {
  REQUIRE(label.spare.of(26) > 0);
  return [&source, label, row](std::uint64_t place) {
    const auto at = slice_at(source.manifest, label, place);
    return !at || at->row != row;
  };
}

TEST_CASE("false media: a good medium gives the content, in whatever order they are named") {
  for (const bool false_first : {true, false}) {
    CAPTURE(false_first);
    Media source;
    const medium::Label label = source.label(0.01);
    std::vector<MediumJournal> media;
    if (false_first) media.push_back(source.journal(label, all, spoil_all));
    media.push_back(source.journal(label, without_row(source, label, 0)));
    if (!false_first) media.push_back(source.journal(label, all, spoil_all));
    const Restored restored = source.restore(media);
    CHECK(restored.complete);
    CHECK(restored.false_ones == 0);
    CHECK(restored.false_media);
    source.check_complete();
  }
}

TEST_CASE("false media: the journal of an earlier run does not spoil a medium that is good alone") {
  Media source;
  const medium::Label label = source.label(0.01);
  {
    std::vector<MediumJournal> media;
    media.push_back(source.journal(label, all, spoil_all));
    CHECK(source.restore(media).false_ones == 4);
  }
  std::vector<MediumJournal> media;
  media.push_back(source.journal(label, without_row(source, label, 0)));
  REQUIRE(add_earlier_journals(source.out(), media).ok());
  REQUIRE(media.size() == 2);
  CHECK(source.restore(media).complete);
  source.check_complete();
}

TEST_CASE("false media: one is left out where only all the others together give the content") {
  Media source;
  const medium::Label label = source.label(0.01);
  std::vector<MediumJournal> media;
  SUBCASE("it is false alone") {
    media.push_back(source.journal(label, all, spoil_all));
  }
  SUBCASE("it lacks rows itself") {
    media.push_back(source.journal(label, first_part(label), spoil_all));
  }
  media.push_back(source.journal(label, first_part(label)));
  media.push_back(source.journal(label, last_part(label)));
  CHECK(source.restore(media).complete);
  source.check_complete();
}

TEST_CASE("false media: what is missing beside a false medium is counted without its rows") {
  Media source;
  const medium::Label label = source.label(0.01);
  std::vector<MediumJournal> media;
  media.push_back(source.journal(label, first_part(label)));
  const Restored alone = source.restore(media);
  CHECK(alone.rows_missing > 0);
  media.push_back(source.journal(label, all, spoil_all));
  const Restored both = source.restore(media);
  CHECK(both.false_ones == 0);
  CHECK(both.rows_missing == alone.rows_missing);
  CHECK(both.rows_kept == 0);
}

TEST_CASE("false media: rows that an earlier run kept of media go, and those of peers stay") {
  Media source;
  const medium::Label label = source.label(0.01);
  std::vector<MediumJournal> media;
  media.push_back(source.journal(label, first_part(label), spoil_all));
  CHECK(source.restore(media).rows_kept > 0);
  PeerId peer;
  peer.bytes.fill(7);
  {
    store::Resumed resumed;
    const auto store =
        store::ContentStore::open_download(source.manifest, source.out(), {}, resumed);
    REQUIRE(store.ok());
    std::vector<std::uint8_t> vector(26);
    vector[3] = 1;
    REQUIRE((*store)->write_row({2, 25, vector, peer}, std::vector<std::uint8_t>(1000, 5)).ok());
  }
  // More was read of that medium: one generation is false now.
  const auto part = first_part(label);
  const auto more = [&](std::uint64_t place) {
    const auto at = slice_at(source.manifest, label, place);
    return part(place) || (at && at->generation == 1);
  };
  media.clear();
  media.push_back(source.journal(label, more, spoil_all));
  const Restored restored = source.restore(media);
  CHECK(restored.false_ones == 1);
  CHECK(restored.rows_kept == 1);
  store::Resumed resumed;
  const auto store = store::ContentStore::open_download(source.manifest, source.out(), {}, resumed);
  REQUIRE(store.ok());
  REQUIRE(resumed.rows.size() == 1);
  CHECK(resumed.rows[0].sender == peer);
  std::vector<std::uint8_t> payload(1000);
  REQUIRE((*store)->read_row(2, resumed.rows[0].slot, payload).ok());
  CHECK(payload == std::vector<std::uint8_t>(1000, 5));
}

TEST_CASE("false media: false rows that peers left are dropped, and what then lacks is counted") {
  Media source;
  const medium::Label label = source.label(0.01);
  std::vector<MediumJournal> media;
  media.push_back(source.journal(label, first_part(label)));
  const Restored before = source.restore(media);
  PeerId peer;
  peer.bytes.fill(7);
  {
    store::Resumed resumed;
    const auto store =
        store::ContentStore::open_download(source.manifest, source.out(), {}, resumed);
    REQUIRE(store.ok());
    for (std::uint32_t slot = 0; slot < 26; ++slot) {
      std::vector<std::uint8_t> vector(26);
      vector[slot] = 1;
      const std::vector<std::uint8_t> payload(1000, 5);
      REQUIRE((*store)->write_row({0, slot, vector, peer}, payload).ok());
    }
  }
  const Restored after = source.restore(media);
  CHECK_FALSE(after.false_media);  // whose rows they were is known
  CHECK(after.rows_missing == before.rows_missing);
  CHECK(after.rows_kept == before.rows_kept);
}

}  // namespace
}  // namespace firn::app
