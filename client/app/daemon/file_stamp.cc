#include "client/app/daemon/file_stamp.h"

#include "client/content/top_name.h"
#include "client/store/files.h"
#include "client/store/posix_files.h"
#include "proto/base/digest.h"

namespace firn::app {
namespace {

void add_number(Sha256& hash, std::uint64_t number) {
  std::uint8_t bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
  hash.update(bytes);
}

bool as_described(const store::FileStat& there, const FileEntry& entry) {
  if (entry.kind == FileEntry::Kind::kFolder) return there.kind == store::FileKind::kFolder;
  return there.kind == store::FileKind::kFile && there.bytes == entry.bytes &&
         there.modified_ns == entry.modified_ns;
}

}  // namespace

Result<FileStamp> stamp_files(const Info& info, const std::string& as, const std::string& dir) {
  const auto files = store::open_posix_files(dir, false);
  if (!files.ok()) return files.error();
  FileStamp stamp;
  stamp.as_described = true;
  Sha256 hash;
  for (std::uint32_t i = 0; i < info.files.size(); ++i) {
    const FileEntry& entry = info.files[i];
    const std::string path = content::final_path(info, as, "", i);
    const auto there = (*files)->stat(path);
    if (!there.ok()) return there.error();
    if (entry.kind == FileEntry::Kind::kLink && there->kind == store::FileKind::kLink) {
      const auto target = (*files)->read_link(path);
      if (!target.ok()) return target.error();
      stamp.as_described &= *target == entry.target;
    } else {
      stamp.as_described &= as_described(*there, entry);
    }
    add_number(hash, static_cast<std::uint64_t>(there->kind));
    if (there->kind == store::FileKind::kFolder) continue;  // its time is that of what is in it
    add_number(hash, there->bytes);
    add_number(hash, static_cast<std::uint64_t>(there->modified_ns));
    add_number(hash, there->inode);
  }
  stamp.digest = hash.finish().raw();
  return stamp;
}

}  // namespace firn::app
