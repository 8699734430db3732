// Where a content's stream is: what its URLs are made of, and what is read of a request's path.
//
//   /stream/CONTENT/PATH      a file of a content; that of a single file is the content's name
//   /file/CONTENT/NUMBER      the same by its place in Info::files, from 1, if the path is too long
//   /playlist/CONTENT.m3u8    what there is to play of it
//
// Each asks for the token of its content, as `?token=`: players send no headers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proto/base/ids.h"
#include "proto/content/manifest.h"

namespace firn::app {

struct StreamAddress {
  std::string server;  // "http://127.0.0.1:4000/"
  ContentId content;
  std::string token;

  std::string playlist() const;
  std::string file(std::string_view path) const;
  // Of info.files[file], no longer than players and their servers take.
  std::string file(const Info& info, std::size_t file) const;
};

struct StreamPath {
  ContentId content;
  std::string file;        // empty: by number, or the playlist
  std::size_t number = 0;  // 0: by path, or the playlist

  bool operator==(const StreamPath&) const = default;
};

// Of a request, decoded. nullopt: there is nothing at such a path. Bytes from the network.
std::optional<StreamPath> parse_stream_path(std::string_view path);

// The path by which people and URLs know an entry of `info.files`.
const std::string& shown_path(const Info& info, const FileEntry& entry);

}  // namespace firn::app
