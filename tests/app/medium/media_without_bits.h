// A content and media of it without any bits, for tests of what is made of their rows.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/app/medium/content_rows.h"
#include "client/app/medium/restoring.h"
#include "client/content/create.h"
#include "client/medium/plan.h"
#include "client/store/posix_files.h"
#include "client/store/work_folder.h"
#include "codec/random.h"
#include "tests/app/temp_folder.h"

namespace firn::app {

namespace fs = std::filesystem;

// Which row slice of the content stands in a place; nothing for the manifest's.
inline std::optional<medium::RowSlice> slice_at(const Manifest& manifest,
                                                const medium::Label& label, std::uint64_t place) {
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
    // The content's id holds the time, and coefficients follow from the id: of some ids a spare
    // row stands for no source block.
    const std::chrono::sys_seconds then(std::chrono::seconds(1'767'225'600));
    fs::last_write_time(folder_.path() + "/source/photo",
                        fs::file_time_type::clock::from_sys(then));
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
    auto rows = ContentRows::open(manifest, {folder_.path() + "/source", ""}, label, {});
    REQUIRE(rows.ok());
    auto files = store::open_posix_files(out(), true);
    REQUIRE(files.ok());
    REQUIRE(store::make_folders(**files, store::WorkFolder::kParent).ok());
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

  // A journal of an earlier run with this label, and nothing in it.
  void leave_empty_journal(const medium::Label& label) {
    auto files = store::open_posix_files(out(), true);
    REQUIRE(files.ok());
    REQUIRE(store::make_folders(**files, store::WorkFolder::kParent).ok());
    const std::string name =
        store::WorkFolder::media_prefix_of(manifest.id) + std::to_string(++count_);
    REQUIRE(RowJournal::open(**files, name + ".rows", Digest{}, label).ok());
  }

  Restored restore(std::vector<MediumJournal>& media) {
    const auto restored = restore_content(manifest, media, out(), {});
    REQUIRE_MESSAGE(restored.ok(), (restored.ok() ? "" : restored.error().message()));
    return *restored;
  }

  void check_complete() const {
    CHECK(tests::file_bytes(out() + "/photo") ==
          tests::file_bytes(folder_.path() + "/source/photo"));
    CHECK_FALSE(fs::exists(out() + "/.firn"));
  }

  Manifest manifest;

 private:
  tests::TempFolder folder_;
  int count_ = 0;
};

inline bool all(std::uint64_t) {
  return true;
}

inline Media::Places first_part(const medium::Label& label) {
  return [count = label.place_count](std::uint64_t place) { return place < count * 6 / 10; };
}
inline Media::Places last_part(const medium::Label& label) {
  return [count = label.place_count](std::uint64_t place) { return place >= count * 4 / 10; };
}

}  // namespace firn::app
