#include "client/app/commands/content_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "proto/limits.h"

namespace firn::app {
namespace {

Result<std::string> read_whole(const std::string& path, std::size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return error_from_errno("open " + path, errno);
  std::string bytes;
  char chunk[1 << 16];
  while (file.read(chunk, sizeof chunk) || file.gcount() > 0) {
    bytes.append(chunk, static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > bytes_max)
      return Error{ErrorCode::kBadInput, "read " + path, "too large for a manifest"};
  }
  if (file.bad()) return error_from_errno("read " + path, errno);
  return bytes;
}

}  // namespace

Result<Manifest> read_manifest_file(const std::string& path) {
  auto bytes = read_whole(path, limits::kManifestBytesMax);
  Error error;
  if (bytes.ok()) {
    auto manifest = parse_manifest(*bytes);
    if (manifest.ok()) return manifest;
    error = manifest.error();
    error.operation = path + ": " + error.operation;
  } else {
    error = bytes.error();
  }
  error.code = ErrorCode::kBadInput;
  return error;
}

Result<ContentSource> read_source(const std::string& text) {
  ContentSource source;
  if (looks_like_link(text)) {
    auto link = parse_link(text);
    if (!link.ok()) return link.error();
    source.content_id = link->content_id;
    source.trackers = link->trackers;
    source.peers = link->peers;
    return source;
  }
  auto manifest = read_manifest_file(text);
  if (!manifest.ok()) return manifest.error();
  source.content_id = manifest->id;
  source.trackers = manifest->trackers;
  source.manifest = *std::move(manifest);
  return source;
}

std::optional<Manifest> kept_manifest(const std::string& dir, const ContentId& content) {
  const auto path = std::filesystem::path(dir) / ".firn" / content.text() / "manifest.firn";
  auto manifest = read_manifest_file(path.string());
  if (!manifest.ok() || manifest->id != content) return std::nullopt;
  return *std::move(manifest);
}

std::string folder_of(const std::string& path) {
  std::filesystem::path given(path);
  if (!given.has_filename()) given = given.parent_path();  // "folder/"
  const std::string folder = given.parent_path().string();
  return folder.empty() ? "." : folder;
}

Status write_file(const std::string& path, std::string_view bytes) {
  const std::string part = path + ".part";
  const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return error_from_errno("create " + part, errno);
  Status status = Done{};
  for (std::size_t done = 0; done < bytes.size() && status.ok();) {
    const ssize_t wrote = write(fd, bytes.data() + done, bytes.size() - done);
    if (wrote >= 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (errno != EINTR) {
      status = error_from_errno("write " + part, errno);
    }
  }
  if (status.ok() && fsync(fd) != 0) status = error_from_errno("write " + part, errno);
  close(fd);
  if (status.ok() && rename(part.c_str(), path.c_str()) != 0)
    status = error_from_errno("rename " + part + " to " + path, errno);
  if (!status.ok()) unlink(part.c_str());
  return status;
}

std::function<void(std::uint64_t, std::uint64_t)> hashing_progress(Console& console,
                                                                   const std::string& what) {
  if (!console.shows_progress()) return {};
  using Clock = std::chrono::steady_clock;
  auto last = std::make_shared<Clock::time_point>();
  auto mutex = std::make_shared<std::mutex>();
  return [&console, what, last, mutex](std::uint64_t done, std::uint64_t total) {
    std::lock_guard lock(*mutex);
    const auto now = Clock::now();
    if (now - *last < std::chrono::milliseconds(100)) return;
    *last = now;
    console.progress(what, done, total);
  };
}

}  // namespace firn::app
