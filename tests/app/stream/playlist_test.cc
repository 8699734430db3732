#include "client/app/stream/playlist.h"

#include <doctest/doctest.h>

#include "client/app/stream/media_type.h"

using namespace firn;
using namespace firn::app;

namespace {

Info info_of(const std::vector<std::string>& paths) {
  Info info;
  info.name = "name";
  for (const std::string& path : paths) {
    FileEntry entry;
    entry.path = path;
    if (path.ends_with('/')) entry.kind = FileEntry::Kind::kFolder;
    info.files.push_back(entry);
  }
  return info;
}

const auto every_file = [](std::size_t) { return true; };

const StreamAddress kAddress{"http://127.0.0.1:80/", ContentId(), "t"};

using Places = std::vector<std::size_t>;

}  // namespace

TEST_CASE("a playlist has the audio and video files that are chosen, by their paths") {
  const Info info = info_of({"b.mkv", "a.MP3", "notes.txt", "x.mkv/", "page.html", "c.mp4"});
  CHECK(played_files(info, every_file) == Places{1, 0, 5});
  CHECK(played_files(info, [](std::size_t i) { return i != 0; }) == Places{1, 5});
}

TEST_CASE("without audio and video a playlist has all files that are chosen, and no folder") {
  const Info info = info_of({"a.bin", "b/", "c"});
  CHECK(played_files(info, every_file) == Places{0, 2});
  CHECK(played_files(info, [](std::size_t i) { return i == 2; }) == Places{2});
}

TEST_CASE("a single file has the name of its content") {
  const Info info = info_of({""});
  const std::string text = playlist_text(entries_of(info, {0}, kAddress));
  CHECK(text == "#EXTM3U\n#EXTINF:-1,name\nhttp://127.0.0.1:80/stream/" + ContentId().text() +
                    "/name?token=t\n");
}

TEST_CASE("a stranger's name adds no line to a playlist, and no other address") {
  const Info info = info_of({"a\nhttp://evil/x.mkv", "b\r\n#EXT-X-KEY.mkv", "c?token=y#z.mkv"});
  const std::string text = playlist_text(entries_of(info, {0, 1, 2}, kAddress));
  CHECK(std::count(text.begin(), text.end(), '\n') == 7);
  CHECK(text.find("\nhttp://evil") == std::string::npos);
  CHECK(text.find("\n#EXT-X") == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
  CHECK(text.find("/c%3Ftoken%3Dy%23z.mkv?token=t\n") != std::string::npos);
}

TEST_CASE("a file whose path is too long for a URL is named by its number") {
  const std::string path = std::string(600, '?') + "/" + std::string(200, '?') + "/film.mkv";
  const Info info = info_of({"a.mkv", path});
  const auto entries = entries_of(info, {0, 1}, kAddress);
  const std::string id = ContentId().text();
  CHECK(entries[0].url == "http://127.0.0.1:80/stream/" + id + "/a.mkv?token=t");
  CHECK(entries[1].path == path);
  CHECK(entries[1].url == "http://127.0.0.1:80/file/" + id + "/2?token=t");
}

TEST_CASE("what a browser could run has no type of its own") {
  for (const char* name : {"page.html", "x.svg", "x.xhtml", "x.xml", "x.js", "x.pdf", "x.swf",
                           "html", "x.mkv/page.html", "x.mht", "", ".", "x."}) {
    CAPTURE(name);
    CHECK(media_type(name).kind == MediaType::Kind::kOther);
    CHECK(media_type(name).name == "application/octet-stream");
  }
  CHECK(media_type("a/b.Mkv").name == "video/x-matroska");
  CHECK(media_type("a.png").kind == MediaType::Kind::kShown);
}

TEST_CASE("a path names a content's file or its playlist, and nothing else is one") {
  const std::string id = ContentId().text();
  CHECK(parse_stream_path("/stream/" + id + "/a/b c") == StreamPath{ContentId(), "a/b c"});
  CHECK(parse_stream_path("/playlist/" + id + ".m3u8") == StreamPath{ContentId(), ""});
  CHECK(parse_stream_path("/file/" + id + "/12") == StreamPath{ContentId(), "", 12});
  const std::vector<std::string> others = {"",
                                           "/",
                                           "/stream/" + id,
                                           "/stream/" + id + "/",
                                           "/stream/" + id.substr(1) + "/a",
                                           "/stream//a",
                                           "/playlist/" + id,
                                           "/playlist/" + id + "/a.m3u8",
                                           "/playlist/.m3u8",
                                           "stream/" + id + "/a",
                                           "/file/" + id,
                                           "/file/" + id + "/",
                                           "/file/" + id + "/0",
                                           "/file/" + id + "/-1",
                                           "/file/" + id + "/1/a",
                                           "/file/" + id + "/99999999999999999999",
                                           "/Stream/" + id + "/a"};
  for (const std::string& path : others) {
    CAPTURE(path);
    CHECK_FALSE(parse_stream_path(path));
  }
}
