#include "client/store/file_mismatch.h"

#include <algorithm>

#include "client/content/division.h"
#include "proto/base/digest.h"

namespace firn::store {
namespace {

using Kind = FileMismatch::Kind;

FileKind kind_wanted(FileEntry::Kind kind) {
  switch (kind) {
    case FileEntry::Kind::kFolder:
      return FileKind::kFolder;
    case FileEntry::Kind::kLink:
      return FileKind::kLink;
    case FileEntry::Kind::kFile:
      break;
  }
  return FileKind::kFile;
}

// Generation g has bytes of this file alone.
bool owns_generation(const Info& info, std::uint32_t file, std::uint32_t g) {
  const std::uint64_t begin = g * info.shape.generation_bytes();
  const std::uint64_t end = begin + info.shape.bytes_in_generation(g);
  const FileEntry& entry = info.files[file];
  return entry.offset <= begin && end <= entry.offset + entry.bytes;
}

// The first name above `name` where no folder stands.
std::string parent_in_the_way(Files& files, const std::string& name) {
  for (std::size_t slash = name.find('/'); slash != std::string::npos;
       slash = name.find('/', slash + 1)) {
    const std::string parent = name.substr(0, slash);
    const Result<FileStat> stat = files.stat(parent);
    if (stat && stat->kind != FileKind::kFolder) return parent;
  }
  return {};
}

Result<Digest> digest_of(const ContentFiles& content, const FileEntry& entry,
                         const std::function<bool()>& cancelled) {
  constexpr std::uint64_t kReadBytes = 1 << 20;
  std::vector<std::uint8_t> buffer(std::min(entry.bytes, kReadBytes));
  Sha256 hasher;
  for (std::uint64_t at = 0; at < entry.bytes;) {
    if (cancelled && cancelled())
      return Error{ErrorCode::kCancelled, "check " + entry.path, "stopped"};
    const auto part = std::span(buffer).first(std::min(entry.bytes - at, kReadBytes));
    if (Status read = content.read(entry.offset + at, part); !read) return read.error();
    hasher.update(part);
    at += part.size();
  }
  return hasher.finish();
}

}  // namespace

const char* mismatch_name(Kind kind) {
  switch (kind) {
    case Kind::kMissing:
      return "missing";
    case Kind::kShort:
      return "short";
    case Kind::kLong:
      return "long";
    case Kind::kChanged:
      return "changed";
    case Kind::kUnfinished:
      return "unfinished";
    case Kind::kKind:
      return "in the way";
  }
  return "wrong";
}

Result<std::optional<FileMismatch>> look_at_final_path(Files& files, const ContentFiles& content,
                                                       const Info& info, std::uint32_t file) {
  const FileEntry& entry = info.files[file];
  const std::string name = content.final_name(file);
  const Result<FileStat> stat = files.stat(name);
  if (!stat) {
    // A file or link stands where one of its folders should be.
    if (stat.error().code == ErrorCode::kExists)
      return std::optional(FileMismatch{file, Kind::kKind, 0, parent_in_the_way(files, name)});
    return stat.error();
  }
  if (stat->kind == FileKind::kMissing) return std::optional(FileMismatch{file, Kind::kMissing});
  if (stat->kind != kind_wanted(entry.kind)) return std::optional(FileMismatch{file, Kind::kKind});
  if (entry.kind == FileEntry::Kind::kLink) {
    const Result<std::string> target = files.read_link(name);
    if (!target) return target.error();
    if (*target != entry.target) return std::optional(FileMismatch{file, Kind::kChanged});
  } else if (entry.kind == FileEntry::Kind::kFile && stat->bytes != entry.bytes) {
    const Kind kind = stat->bytes < entry.bytes ? Kind::kShort : Kind::kLong;
    return std::optional(FileMismatch{file, kind, stat->bytes});
  }
  return std::optional<FileMismatch>();
}

Result<bool> finished_file_is_right(const ContentFiles& content, const Info& info,
                                    std::uint32_t file, const std::vector<bool>& verified,
                                    const std::function<bool()>& cancelled) {
  const content::GenerationRange range = content::generations_of(info, file);
  bool doubt = false;
  for (std::uint32_t g = range.first; g < range.last; ++g) {
    if (verified[g]) continue;
    if (owns_generation(info, file, g)) return false;
    doubt = true;
  }
  if (!doubt) return true;
  const Result<Digest> digest = digest_of(content, info.files[file], cancelled);
  if (digest) return *digest == info.files[file].digest;
  if (digest.error().code == ErrorCode::kCorrupt) return false;  // cut meanwhile
  return digest.error();
}

std::string list_mismatches(const ContentFiles& content, const Info& info,
                            std::span<const FileMismatch> faults) {
  constexpr std::size_t kNamedMax = 10;
  std::string text, parent;
  std::size_t named = 0, more = 0;
  for (const FileMismatch& fault : faults) {
    if (!fault.parent.empty() && fault.parent == parent) continue;
    parent = fault.parent;
    if (named == kNamedMax) {
      ++more;
      continue;
    }
    const FileEntry& entry = info.files[fault.file];
    const std::string& path = !parent.empty()    ? parent
                              : info.single_file ? content.top_name()
                                                 : entry.path;
    text += (named++ > 0 ? ", " : "") + path + " (" + mismatch_name(fault.kind);
    if (fault.kind == Kind::kShort || fault.kind == Kind::kLong) {
      text += ": " + std::to_string(fault.bytes_there) + " of " + std::to_string(entry.bytes) +
              " bytes";
    }
    text += ")";
  }
  if (more > 0) text += " and " + std::to_string(more) + " more";
  return text;
}

}  // namespace firn::store
