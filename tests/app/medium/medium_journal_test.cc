#include "client/app/medium/medium_journal.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/app/medium/media_without_bits.h"

namespace firn::app {
namespace {

TEST_CASE("earlier journals: those that do not fit the content are left out, named ones refused") {
  Media source;
  const medium::Label label = source.label(0.01);
  medium::Label longer = label, wider = label;
  ++longer.place_count;
  wider.block_bytes *= 2;
  source.leave_empty_journal(longer);
  source.leave_empty_journal(wider);
  {
    std::vector<MediumJournal> media;
    media.push_back(source.journal(label, all));
    REQUIRE(add_earlier_journals(source.out(), media).ok());
    REQUIRE(media.size() == 3);
    media[1].earlier = false;
    const auto refused = restore_content(source.manifest, media, source.out(), {});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::kBadInput);
    media[1].earlier = true;
    CHECK(source.restore(media).complete);
  }
  source.check_complete();
}

TEST_CASE("earlier journals: there are none where another process has completed the content") {
  Media source;
  std::vector<MediumJournal> media;
  media.push_back(source.journal(source.label(0.01), all));
  fs::remove_all(source.out() + "/.firn");
  CHECK(add_earlier_journals(source.out(), media).ok());
  CHECK(media.size() == 1);
}

TEST_CASE("medium journal: a reading that is stopped before a label is found keeps nothing") {
  const tests::TempFolder folder;
  const std::string path = folder.path() + "/medium";
  std::ofstream(path, std::ios::binary) << std::string(10'000, 'x');
  ReadingOptions options;
  options.cancelled = [] { return true; };
  bool keeps = false;
  const MediumEvents events{[](const medium::Rates&, const medium::Rates&) {},
                            [&keeps] { keeps = true; }};
  const auto journal = read_medium_journal({path, folder.path() + "/out", {}, {}}, options, events);
  REQUIRE_FALSE(journal.ok());
  CHECK(journal.error().code == ErrorCode::kCancelled);
  CHECK_FALSE(keeps);
  CHECK_FALSE(fs::exists(folder.path() + "/out"));
}

TEST_CASE("medium reading: images of one medium that differ anywhere have other fingerprints") {
  const tests::TempFolder folder;
  const auto print_of = [&](const std::string& bytes) {
    const std::string path = folder.path() + "/medium";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    const auto input = MediumInput::open(path);
    REQUIRE(input.ok());
    const ReadingOptions options;
    const auto print = MediumReading(**input, options).fingerprint();
    REQUIRE(print.ok());
    return *print;
  };
  const std::string first(3'000'000, 'x');  // more than is hashed at a time
  CHECK(print_of(first) == print_of(first));
  CHECK_FALSE(print_of(first) == print_of(first + 'x'));
  for (const std::size_t at : {std::size_t{0}, std::size_t{4096}, first.size() - 1}) {
    CAPTURE(at);
    std::string other = first;
    other[at] = 'y';
    CHECK_FALSE(print_of(other) == print_of(first));
  }
}

}  // namespace
}  // namespace firn::app
