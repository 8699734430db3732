#include "client/content/create.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <span>

#include "client/content/division.h"
#include "client/content/file_hashes.h"
#include "client/content/generation_loop.h"
#include "client/content/scan.h"
#include "proto/base/digest.h"
#include "proto/content/content_layout.h"
#include "proto/content/manifest_info.h"

namespace firn::content {
namespace {

Error changed(const std::string& path) {
  return {ErrorCode::kCorrupt, "read " + path,
          "the file changed while it was read; try again when nobody writes to it"};
}

Status read_fully(int descriptor, const std::string& path, std::uint64_t offset,
                  std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return error_from_errno("read " + path, errno);
    if (got == 0) return changed(path);  // shorter than at the scan
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return Done{};
}

// Reads a part of a file that must stand as it did at the scan, before and after.
Status read_unchanged(const std::string& path, const FileState& scanned, std::uint64_t offset,
                      std::span<std::uint8_t> out) {
  struct Descriptor {
    int number;
    ~Descriptor() {
      if (number >= 0) ::close(number);
    }
  };
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (file.number < 0) {
    if (errno == ELOOP || errno == ENOENT) return changed(path);
    return error_from_errno("open " + path, errno);
  }
  for (const bool before : {true, false}) {
    Result<FileState> now = state_of(file.number, path);
    if (!now) return now.error();
    if (*now != scanned) return changed(path);
    if (!before) break;
    if (Status read = read_fully(file.number, path, offset, out); !read) return read;
  }
  return Done{};
}

// The content bytes of a generation, out of files that are as they were at the scan.
Status read_generation(const Info& info, const Scan& scan, std::uint32_t generation,
                       std::span<std::uint8_t> out) {
  const std::uint64_t begin = generation * info.shape.generation_bytes();
  for (const FileSpan& span : spans_of(info, begin, out.size())) {
    Status read = read_unchanged(scan.sources[span.file], scan.states[span.file], span.file_offset,
                                 out.subspan(span.content_offset - begin, span.bytes));
    if (!read) return read;
  }
  return Done{};
}

// Several threads read generations of bytes that come in order alone.
class InTurn {
 public:
  explicit InTurn(const ReadNext& read_next) : read_next_(read_next) {}

  Status read(std::uint32_t generation, std::span<std::uint8_t> out) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_ || next_ == generation; });
    // The loop ends with the error of the earliest generation, which is another one.
    if (failed_) return Error{ErrorCode::kCancelled, "reading the content", "stopped"};
    Status read = read_next_(out);
    failed_ = !read;
    ++next_;
    changed_.notify_all();
    return read;
  }

 private:
  const ReadNext& read_next_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t next_ = 0;
  bool failed_ = false;
};

// Reads a generation's content bytes, without padding. Several threads, each generation once.
using ReadGeneration =
    std::function<Status(const Info& info, std::uint32_t generation, std::span<std::uint8_t> out)>;

Result<Manifest> manifest_of(const Scan& scan, const ReadGeneration& read_generation,
                             const CreateOptions& options) {
  if (options.scanned) options.scanned(scan);
  Result<Shape> shape =
      choose_shape(scan.content_bytes, options.generation_size, options.block_bytes);
  if (!shape) return shape.error();

  Info info;
  info.name = scan.name;
  info.single_file = scan.single_file;
  info.files = scan.files;
  info.folders = scan.folders;
  info.shape = *shape;
  lay_out(info);
  if (Status fits = check_generation_count(info.shape); !fits) return fits.error();
  info.generation_digests.resize(info.shape.generation_count());
  // What refuses the manifest should be known before hours of hashing.
  if (Status good = check_info(info); !good) return good.error();

  FileHashes hashes(info);
  std::vector<std::uint32_t> generations(info.shape.generation_count());
  std::iota(generations.begin(), generations.end(), 0u);
  const auto hash = [&](std::uint32_t generation, std::span<std::uint8_t> buffer) -> Status {
    const auto data = buffer.first(info.shape.bytes_in_generation(generation));
    if (Status read = read_generation(info, generation, data); !read) {
      hashes.abandon();
      return read;
    }
    const auto whole = buffer.first(info.shape.padded_bytes(generation));
    std::ranges::fill(whole.subspan(data.size()), std::uint8_t{0});
    info.generation_digests[generation] = generation_digest(whole, info.shape.block_bytes);
    // Without the files' digests the loop ends with the error of the generation that failed.
    (void)hashes.add(generation, data);
    return Done{};
  };
  const GenerationLoop loop{options.threads, options.progress, options.cancelled};
  if (Status hashed = for_each_generation(info.shape, generations, loop, hash); !hashed) {
    return hashed.error();
  }
  info.is_private = options.is_private;
  if (options.authority) info.authority_key = options.authority(info);
  return make_manifest(info, options.trackers);
}

}  // namespace

Result<Manifest> create_manifest(const std::string& path, const CreateOptions& options) {
  Result<Scan> scan = scan_path(path, options.scan);
  if (!scan) return scan.error();
  const auto read = [&](const Info& info, std::uint32_t generation, std::span<std::uint8_t> out) {
    return read_generation(info, *scan, generation, out);
  };
  return manifest_of(*scan, read, options);
}

Result<Manifest> create_manifest_of(FileEntry file, const ReadNext& read_next,
                                    const CreateOptions& options) {
  Scan scan;
  scan.name = std::move(file.path);
  scan.single_file = true;
  scan.content_bytes = file.bytes;
  file.path.clear();
  scan.files = {std::move(file)};
  InTurn in_turn(read_next);
  const auto read = [&](const Info&, std::uint32_t generation, std::span<std::uint8_t> out) {
    return in_turn.read(generation, out);
  };
  return manifest_of(scan, read, options);
}

}  // namespace firn::content
