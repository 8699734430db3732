// A request's path, and behind line ends names of files: what is read of a path that we made is
// what it was made of, and a playlist has two lines for each file, whatever they are called.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "client/app/stream/playlist.h"
#include "client/app/stream/stream_address.h"
#include "proto/base/percent.h"
#include "proto/base/plain_text.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::stream_path {
using namespace firn::app;

constexpr std::string_view kServer = "http://127.0.0.1:1/";

// What a server sees of a URL of ours.
std::string path_in(const std::string& url) {
  FIRN_CHECK(url.starts_with(kServer) && url.ends_with("?token=t"));
  const auto path =
      percent_decode(url.substr(kServer.size() - 1, url.rfind('?') - kServer.size() + 1));
  FIRN_CHECK(path);
  return *path;
}

FIRN_FUZZ_TARGET(stream_path) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto asked = parse_stream_path(text.substr(0, text.find('\n')));
  StreamAddress at{std::string(kServer), asked ? asked->content : ContentId(), "t"};
  FIRN_CHECK(parse_stream_path(path_in(at.playlist())) == (StreamPath{at.content, ""}));
  if (asked && !asked->file.empty())
    FIRN_CHECK(parse_stream_path(path_in(at.file(asked->file))) == *asked);

  Info info;
  info.name = "fuzz";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    FileEntry entry;
    entry.path = text.substr(0, end);
    info.files.push_back(std::move(entry));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto files = played_files(info, [](std::size_t) { return true; });
  FIRN_CHECK(files.empty() == info.files.empty());
  std::string_view list;
  const std::string text_of_list = playlist_text(entries_of(info, files, at));
  list = text_of_list;
  FIRN_CHECK(list.starts_with("#EXTM3U\n"));
  std::size_t lines = 0;
  while (!list.empty()) {
    const std::size_t end = list.find('\n');
    FIRN_CHECK(end != std::string_view::npos);
    const std::string_view line = list.substr(0, end);
    FIRN_CHECK(is_plain_text(line));
    FIRN_CHECK(line.starts_with('#') || line.starts_with(kServer));
    list.remove_prefix(end + 1);
    ++lines;
  }
  FIRN_CHECK(lines == 1 + 2 * files.size());
  return 0;
}

}  // namespace firn::fuzz::stream_path
