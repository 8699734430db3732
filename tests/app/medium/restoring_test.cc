#include "client/app/medium/restoring.h"

#include <doctest/doctest.h>

#include "client/store/content_store.h"
#include "tests/app/medium/media_without_bits.h"

namespace firn::app {
namespace {

TEST_CASE("restoring: one whole medium gives the content, and leaves no journal") {
  Media source;
  std::vector<MediumJournal> media;
  media.push_back(source.journal(source.label(0.01), all));
  CHECK(restore_manifest(media)->id == source.manifest.id);
  const Restored restored = source.restore(media);
  CHECK(restored.complete);
  CHECK(restored.decoded == 4);
  source.check_complete();
}

TEST_CASE("restoring: parts of media that cut rows otherwise complete each other") {
  Media source;
  const medium::Label mild = source.label(0.003), rough = source.label(0.02);
  REQUIRE(mild.payload_bytes() != rough.payload_bytes());
  std::vector<MediumJournal> media;
  media.push_back(source.journal(mild, first_part(mild)));
  CHECK_FALSE(source.restore(media).complete);
  media.push_back(source.journal(rough, last_part(rough)));
  CHECK(source.restore(media).complete);
  source.check_complete();
}

TEST_CASE("restoring: rows of which slices were lost complete each other where whole rows do not") {
  Media source;
  const medium::Label label = source.label(0.01);
  REQUIRE(label.slices() > 2);
  // Each medium lost every second slice of each row, the other one the others.
  const auto every_second = [&](std::uint32_t rest) {
    return [&, rest](std::uint64_t place) {
      const auto at = slice_at(source.manifest, label, place);
      return !at || (at->row + at->slice) % 2 == rest;
    };
  };
  std::vector<MediumJournal> media;
  media.push_back(source.journal(label, every_second(0)));
  const Restored alone = source.restore(media);
  CHECK(alone.whole() == 0);
  CHECK(alone.rows_kept == 0);
  media.push_back(source.journal(label, every_second(1)));
  CHECK(source.restore(media).complete);
  source.check_complete();
}

TEST_CASE("restoring: journals that earlier runs left are found again") {
  Media source;
  const medium::Label label = source.label(0.01);
  { (void)source.journal(label, first_part(label)); }
  std::vector<MediumJournal> media;
  media.push_back(source.journal(label, last_part(label)));
  REQUIRE(add_earlier_journals(source.out(), media).ok());
  REQUIRE(media.size() == 2);
  CHECK(media[1].label().same_medium(label));
  REQUIRE(add_earlier_journals(source.out(), media).ok());
  CHECK(media.size() == 2);
  CHECK(source.restore(media).complete);
}

TEST_CASE("restoring: rows of unfinished generations stand where a download goes on") {
  Media source;
  std::vector<MediumJournal> media;
  const medium::Label label = source.label(0.01);
  media.push_back(source.journal(label, first_part(label)));
  const Restored restored = source.restore(media);
  CHECK(restored.whole() == 0);
  CHECK(restored.rows_kept > 0);
  store::Resumed resumed;
  const auto store = store::ContentStore::open_download(source.manifest, source.out(), {}, resumed);
  REQUIRE(store.ok());
  CHECK(resumed.rows.size() == restored.rows_kept);
}

TEST_CASE("restoring: of media with a false generation nothing is kept that is not proven") {
  Media source;
  const medium::Label label = source.label(0.01);
  // All that is read of one generation is false; of another one rows are missing.
  const auto generation_of = [&](std::uint64_t place) -> std::uint32_t {
    const auto at = slice_at(source.manifest, label, place);
    return at ? at->generation : 99;
  };
  const auto lacks = [&](std::uint64_t place) {
    return generation_of(place) != 2 || place < label.place_count / 2;
  };
  std::vector<MediumJournal> media;
  media.push_back(
      source.journal(label, lacks, [&](std::uint64_t place, std::vector<std::uint8_t>& payload) {
        if (generation_of(place) == 1) payload[0] ^= 1;
      }));
  const Restored restored = source.restore(media);
  CHECK(restored.decoded == 2);
  CHECK(restored.false_ones == 1);
  CHECK(restored.rows_missing > 0);
  CHECK(restored.rows_kept == 0);
  CHECK_FALSE(restored.complete);
  CHECK_FALSE(fs::exists(source.out() + "/photo"));
}

}  // namespace
}  // namespace firn::app
