#include "client/content/file_hashes.h"

#include <utility>

#include "client/content/division.h"

namespace firn::content {

FileHashes::FileHashes(Info& info) : info_(info) {
  const Digest of_nothing = sha256({});
  for (FileEntry& file : info.files) {
    if (file.kind == FileEntry::Kind::kFile && file.bytes == 0) file.digest = of_nothing;
  }
}

bool FileHashes::add(std::uint32_t generation, std::span<const std::uint8_t> data) {
  const std::uint64_t begin = generation * info_.shape.generation_bytes();
  for (const FileSpan& span : spans_of(info_, begin, data.size())) {
    Sha256 hasher;
    if (span.file_offset > 0 && !take_over(generation, hasher)) return false;
    hasher.update(data.subspan(span.content_offset - begin, span.bytes));
    FileEntry& file = info_.files[span.file];
    if (span.file_offset + span.bytes == file.bytes) {
      file.digest = hasher.finish();
    } else {
      hand_on(generation + 1, std::move(hasher));
    }
  }
  return true;
}

bool FileHashes::take_over(std::uint32_t generation, Sha256& hasher) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return abandoned_ || begun_.contains(generation); });
  if (abandoned_) return false;
  hasher = std::move(begun_.extract(generation).mapped());
  return true;
}

void FileHashes::hand_on(std::uint32_t generation, Sha256 hasher) {
  const std::lock_guard lock(mutex_);
  begun_.emplace(generation, std::move(hasher));
  changed_.notify_all();
}

void FileHashes::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

}  // namespace firn::content
