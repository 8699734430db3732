#include "client/app/page/file_markup.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "client/app/page/form_calls.h"
#include "client/app/page/settings_markup.h"

using namespace firn;
using namespace firn::app;

namespace {

constexpr std::uint64_t kGeneration = 1000;

core::SwarmView view_with(std::uint32_t generations) {
  core::SwarmView view;
  view.generation_size = 10;
  view.verified = view.given_up = core::GenerationSet(generations);
  return view;
}

FileEntry file(std::uint64_t offset, std::uint64_t bytes) {
  FileEntry entry;
  entry.path = "<a>";
  entry.offset = offset;
  entry.bytes = bytes;
  return entry;
}

}  // namespace

TEST_CASE("a file's progress counts its own bytes of each generation") {
  core::SwarmView view = view_with(4);
  view.verified.add(0);
  core::FillingGeneration filling;
  filling.number = 2;
  filling.rank = 5;
  filling.blocks = 10;
  view.filling.push_back(filling);
  CHECK(share_of(file(0, 1000), kGeneration, view) == doctest::Approx(1));
  CHECK(share_of(file(500, 1000), kGeneration, view) == doctest::Approx(0.5));
  CHECK(share_of(file(1000, 3000), kGeneration, view) == doctest::Approx(0.5 / 3));
  CHECK(share_of(file(2100, 10), kGeneration, view) == doctest::Approx(0.5));
  CHECK(share_of(file(3000, 1), kGeneration, view) == doctest::Approx(0));
  CHECK(share_of(file(3000, 0), kGeneration, view) == doctest::Approx(1));
}

TEST_CASE("of very many files the first are listed, and their number is told") {
  Info info;
  info.shape = {10, 100, 5000};
  for (std::uint64_t i = 0; i < 5000; ++i) info.files.push_back(file(i, 1));
  const ListedFiles listed = list_files(info);
  CHECK(listed.entries.size() == ListedFiles::kListedMax);
  const core::SwarmView view = view_with(5);
  const std::string markup = files_section(listed, "x", &view, false, "");
  CHECK(markup.find("The first 100 of 5000.") != std::string::npos);
  CHECK(markup.find("&lt;a&gt;") != std::string::npos);
  CHECK(markup.find("<a>") == std::string::npos);
}

TEST_CASE("without a session files have sizes, and a progress only if they are complete") {
  Info info;
  info.shape = {10, 100, 5000};
  info.files = {file(0, 2048)};
  const auto shows = [&](bool complete, const char* words) {
    const std::string markup = files_section(list_files(info), "x", nullptr, complete, "");
    CHECK(markup.find("2.0 KiB") != std::string::npos);
    return markup.find(words) != std::string::npos;
  };
  CHECK(shows(true, "100%"));
  CHECK_FALSE(shows(false, "%"));
  CHECK(files_section({}, "x", nullptr, true, "").find("once the manifest is known") !=
        std::string::npos);
}

TEST_CASE("audio and video files that are chosen lead to players, others do not") {
  Info info;
  info.shape = {10, 100, 5000};
  for (const char* path : {"a.mkv", "b.txt", "c\"<.mp3", "d.mkv"}) {
    info.files.push_back(file(0, 1));
    info.files.back().path = path;
  }
  ListedFiles listed = list_files(info);
  listed.chosen[3] = false;
  const std::string markup = files_section(listed, "x", nullptr, true, "/play/ID");
  CHECK(markup.find("<a href=\"/play/ID\">") != std::string::npos);
  CHECK(markup.find("<a href=\"/play/ID/1\" aria-label=\"Play a.mkv\">") != std::string::npos);
  CHECK(markup.find("/play/ID/2") == std::string::npos);
  CHECK(markup.find("<a href=\"/play/ID/3\" aria-label=\"Play c&quot;&lt;.mp3\">") !=
        std::string::npos);
  CHECK(markup.find("/play/ID/4") == std::string::npos);
  CHECK(files_section(listed, "x", nullptr, true, "").find("/play") == std::string::npos);
}

TEST_CASE("a few files are chosen by boxes, very many by what their names fit") {
  const Json details = {{"kind", "download"}, {"content_id", "c"}, {"name", "x"}, {"share", 0.5}};
  for (const std::size_t count : {ListedFiles::kListedMax, std::size_t{10'000}}) {
    Info info;
    info.shape = {10, 100, 10'000};
    for (std::size_t i = 0; i < count; ++i) info.files.push_back(file(i, 1));
    const std::string form = files_form(details, list_files(info), {});
    const bool boxes = form.find("name=\"file100\"") != std::string::npos;
    const bool patterns = form.find("name=\"take\"") != std::string::npos &&
                          form.find("name=\"skip\"") != std::string::npos;
    CHECK(boxes == (count == ListedFiles::kListedMax));
    CHECK(patterns == !boxes);
  }
}

TEST_CASE("a form's patterns become the rules of the choice, and what was typed comes back") {
  web::Fields fields = {{"content", "c"}, {"action", "files"}, {"take", "*.mkv"}, {"skip", "b \""}};
  const auto call = form_call(fields);
  REQUIRE(call.ok());
  CHECK(call->rpc["params"]["files"] == Json::array({"file:*.mkv", "skip:b \""}));
  fields[2].second = fields[3].second = "";
  CHECK_FALSE(form_call(fields).ok());
  Info info;
  info.shape = {10, 100, 5000};
  info.files.assign(5000, file(0, 1));
  const Refusal refused{"files", "why", {{"take", "a\"b"}}};
  const Json details = {{"kind", "download"}, {"content_id", "c"}, {"name", "x"}, {"share", 0.5}};
  const std::string form = files_form(details, list_files(info), refused);
  CHECK(form.find("value=\"a&quot;b\"") != std::string::npos);
  CHECK(form.find("why") != std::string::npos);
}
