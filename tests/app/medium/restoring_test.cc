#include "client/app/medium/restoring.h"

#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <optional>

#include "client/app/medium/content_rows.h"
#include "client/content/create.h"
#include "client/medium/plan.h"
#include "client/store/content_store.h"
#include "client/store/posix_files.h"
#include "client/store/work_folder.h"
#include "codec/random.h"
#include "tests/app/temp_folder.h"

namespace firn::app {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Which row slice of the content stands in a place; nothing for the manifest's.
std::optional<medium::RowSlice> slice_at(const Manifest& manifest, const medium::Label& label,
                                         std::uint64_t place) {
  const medium::RowOrder order(medium::content_rows(manifest.info.shape, label.spare),
                               label.slices());
  const medium::Layout layout(medium::RowOrder(label.manifest_shape().rows_of(), 1).count(),
                              order.count());
  const auto at = layout.at(place);
  if (at.stream != medium::Stream::kContent) return std::nullopt;
  return order.at(at.index);
}

// A content of four generations, and media of it without any bits: frames go straight into
// journals.
class Media {
 public:
  Media() {
    fs::create_directory(folder_.path() + "/source");
    std::vector<std::uint8_t> data(100'000);
    codec::CoefficientStream(5, 6).fill(data);
    std::ofstream(folder_.path() + "/source/photo", std::ios::binary)
        .write(reinterpret_cast<const char*>(data.data()),
               static_cast<std::streamsize>(data.size()));
    content::CreateOptions options;
    options.generation_size = 26;
    options.block_bytes = 1000;
    auto made = content::create_manifest(folder_.path() + "/source/photo", options);
    REQUIRE(made.ok());
    manifest = *std::move(made);
  }

  medium::Label label(double rate) const {
    medium::PlanRequest request;
    request.rates = {rate, rate, 0};
    request.content_bytes = manifest.info.shape.content_bytes;
    request.shape = manifest.info.shape;
    request.manifest_bytes = static_cast<std::uint32_t>(manifest.file_bytes.size());
    auto plan = medium::make_plan(request);
    REQUIRE(plan.ok());
    plan->label.content = manifest.id;
    return plan->label;
  }

  std::string out() const { return folder_.path() + "/out"; }

  // The frames of a medium in these places, with what `spoil` makes of a payload.
  using Places = std::function<bool(std::uint64_t place)>;
  using Spoil = std::function<void(std::uint64_t place, std::vector<std::uint8_t>& payload)>;
  MediumJournal journal(const medium::Label& label, const Places& reads, const Spoil& spoil = {}) {
    auto rows = ContentRows::open(manifest, folder_.path() + "/source", label, {});
    REQUIRE(rows.ok());
    auto files = store::open_posix_files(out(), true);
    REQUIRE(files.ok());
    REQUIRE((*files)->make_folders(store::WorkFolder::kParent).ok());
    Digest print;
    print.bytes.fill(static_cast<std::uint8_t>(++count_));
    const std::string name =
        store::WorkFolder::media_prefix_of(manifest.id) + std::to_string(count_);
    auto opened = RowJournal::open(**files, name + ".rows", print, label);
    REQUIRE(opened.ok());
    for (std::uint64_t place = 0; place < label.place_count; ++place) {
      if (!reads(place)) continue;
      auto payload = (*rows)->payload(place);
      REQUIRE(payload.ok());
      payload->resize(label.payload_bytes());
      if (spoil) spoil(place, *payload);
      medium::GroupReading group;
      group.frames.push_back({static_cast<std::uint32_t>(place), *payload});
      REQUIRE((*opened)->add(static_cast<std::int64_t>(place), group).ok());
    }
    return {name, nullptr, *std::move(opened)};
  }

  Restored restore(std::vector<MediumJournal>& media) {
    const auto restored = restore_content(manifest, media, out(), {});
    REQUIRE_MESSAGE(restored.ok(), (restored.ok() ? "" : restored.error().message()));
    return *restored;
  }

  void check_complete() const {
    CHECK(bytes_of(out() + "/photo") == bytes_of(folder_.path() + "/source/photo"));
    CHECK_FALSE(fs::exists(out() + "/.firn"));
  }

  Manifest manifest;

 private:
  tests::TempFolder folder_;
  int count_ = 0;
};

bool all(std::uint64_t) {
  return true;
}

Media::Places first_part(const medium::Label& label) {
  return [count = label.place_count](std::uint64_t place) { return place < count * 6 / 10; };
}
Media::Places last_part(const medium::Label& label) {
  return [count = label.place_count](std::uint64_t place) { return place >= count * 4 / 10; };
}

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
