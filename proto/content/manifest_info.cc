#include "proto/content/manifest_info.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <optional>

#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/base/plain_text.h"
#include "proto/base/public_key.h"
#include "proto/content/content_layout.h"
#include "proto/message_checks.h"
#include "proto/wire.h"
#include "proto/wire_fields.h"

namespace firn {
namespace {

constexpr std::uint32_t kInfoVersion = 2;

Error broken(std::string rule) {
  return {ErrorCode::kBadInput, "check the manifest", std::move(rule)};
}

std::string in_quotes(std::string_view path) {
  return std::string("'").append(to_plain_text(path, limits::kPathBytesMax)).append("'");
}

Status check_shape(const Shape& shape) {
  const auto within = [](std::uint64_t value, std::uint64_t max) {
    return value >= 1 && value <= max;
  };
  if (!within(shape.generation_size, limits::kGenerationSizeMax))
    return broken("a generation has " + std::to_string(shape.generation_size) + " blocks; 1 to " +
                  std::to_string(limits::kGenerationSizeMax) + " are allowed");
  if (!within(shape.block_bytes, limits::kBlockBytesMax))
    return broken("a block has " + std::to_string(shape.block_bytes) + " bytes; 1 to " +
                  std::to_string(limits::kBlockBytesMax) + " are allowed");
  if (shape.generation_bytes() > limits::kGenerationBytesMax)
    return broken("a generation has " + std::to_string(shape.generation_bytes()) +
                  " bytes; at most " + std::to_string(limits::kGenerationBytesMax) +
                  " are allowed");
  if (shape.content_bytes > limits::kGenerationCountMax * shape.generation_bytes())
    return broken("the content's " + std::to_string(shape.content_bytes) +
                  " bytes make more than " + std::to_string(limits::kGenerationCountMax) +
                  " generations; choose larger generations");
  return Done{};
}

Status check_file(const Info& info, const FileEntry& file) {
  if (info.single_file) {
    if (!file.path.empty()) return broken("the one file has a path beside the content's name");
    if (file.kind != FileEntry::Kind::kFile)
      return broken("the one file is a folder or a symbolic link");
  } else if (Status path = check_content_path(file.path); !path.ok()) {
    return broken("the path " + in_quotes(file.path) + " is not safe: " + path.error().detail);
  }
  if (file.mode > 0777) return broken("the mode of " + in_quotes(file.path) + " is above 0777");
  if (file.kind != FileEntry::Kind::kFile && file.bytes != 0)
    return broken("the folder or link " + in_quotes(file.path) + " has bytes");
  if (file.kind != FileEntry::Kind::kLink) {
    if (!file.target.empty()) return broken(in_quotes(file.path) + " is no link, but has a target");
  } else if (Status target = check_link_target(file.path, file.target); !target.ok()) {
    return broken("the link " + in_quotes(file.path) + " is not safe: " + target.error().message());
  }
  return Done{};
}

// Folders on the way to `path` that are not on the way to `before`.
std::size_t new_folders(std::string_view before, std::string_view path) {
  const auto apart = std::ranges::mismatch(before, path).in2;
  return static_cast<std::size_t>(std::count(apart, path.end(), '/'));
}

// With '/' before every other character a path is followed at once by what lies below it.
bool before_in_tree(std::string_view a, std::string_view b) {
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<std::uint8_t>(c); };
  return std::ranges::lexicographical_compare(a, b, {}, rank, rank);
}

// Every folder once, in order, and each with something in it. `paths`: the files', in tree order.
Status check_folders(const Info& info, const std::vector<std::string_view>& paths) {
  const std::string* before = nullptr;
  for (const FolderEntry& folder : info.folders) {
    const std::string inside = folder.path + "/";
    const auto first = std::ranges::lower_bound(paths, inside, before_in_tree);
    const bool holds = first != paths.end() && first->starts_with(inside);
    if (info.single_file || (!folder.path.empty() && !holds))
      return broken("the folder " + in_quotes(folder.path) + " has a mode, but no file lies in it");
    if (before != nullptr && *before >= folder.path)
      return broken("the folder " + in_quotes(folder.path) + " is there twice or out of order");
    if (folder.mode > 0777)
      return broken("the mode of the folder " + in_quotes(folder.path) + " is above 0777");
    before = &folder.path;
  }
  return Done{};
}

// No path twice, no file, link or empty folder that another path goes through, and not too many
// folders that paths go through: each of them costs a receiver as much as an entry does.
Status check_tree(const Info& info) {
  std::vector<std::string_view> paths;
  paths.reserve(info.files.size());
  for (const FileEntry& file : info.files) paths.push_back(file.path);
  std::ranges::sort(paths, before_in_tree);
  std::size_t folders = paths.empty() ? 0 : new_folders("", paths.front());
  for (std::size_t i = 1; i < paths.size(); ++i) {
    const std::string_view above = paths[i - 1], below = paths[i];
    if (above == below) return broken("the path " + in_quotes(above) + " is there twice");
    if (below.starts_with(above) && below[above.size()] == '/')
      return broken(in_quotes(above) + " is a file, link or empty folder, and " + in_quotes(below) +
                    " lies below it");
    folders += new_folders(above, below);
  }
  if (folders > limits::kFolderCountMax)
    return broken("its paths go through more than " + std::to_string(limits::kFolderCountMax) +
                  " folders");
  return check_folders(info, paths);
}

// Counts and texts, before the generated parser makes objects of them.
Status check_info_bytes(std::span<const std::uint8_t> bytes) {
  using wire::FileEntry, wire::Info;
  if (!proto::count_fits(bytes, Info::kFilesFieldNumber, limits::kFileCountMax))
    return broken("its info part is malformed, or there are more than " +
                  std::to_string(limits::kFileCountMax) + " files");
  if (!proto::count_fits(bytes, Info::kFoldersFieldNumber, limits::kFolderCountMax))
    return broken("there are more than " + std::to_string(limits::kFolderCountMax) + " folders");
  if (!proto::text_fits(bytes, Info::kNameFieldNumber, limits::kPathComponentBytesMax))
    return broken("the name is too long, is not UTF-8, or has control characters");
  std::size_t file = 0;
  for (proto::FieldReader fields(bytes); fields.next();) {
    if (fields.is_bytes(Info::kFoldersFieldNumber) &&
        !proto::text_fits(fields.bytes(), wire::FolderEntry::kPathFieldNumber,
                          limits::kPathBytesMax))
      return broken("a folder's entry is malformed, or its path is too long or not plain text");
    if (!fields.is_bytes(Info::kFilesFieldNumber)) continue;
    if (!proto::text_fits(fields.bytes(), FileEntry::kPathFieldNumber, limits::kPathBytesMax))
      return broken("file " + std::to_string(file) +
                    " is malformed, or its path is too long, is not UTF-8, or has control "
                    "characters");
    if (!proto::text_fits(fields.bytes(), FileEntry::kTargetFieldNumber, limits::kPathBytesMax))
      return broken("the target of link " + std::to_string(file) +
                    " is too long, is not UTF-8, or has control characters");
    ++file;
  }
  return Done{};
}

// What a varint field of 32 bits holds, as protobuf reads it.
std::uint32_t low32(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}

// nullopt: of a kind that this program does not know, or with a digest where none belongs.
std::optional<FileEntry> file_from_bytes(std::span<const std::uint8_t> bytes) {
  using Wire = wire::FileEntry;
  FileEntry file;
  file.mode = 0;
  std::uint64_t kind = Wire::FILE;
  std::string_view digest;
  for (proto::FieldReader fields(bytes); fields.next();) {
    if (fields.is_bytes(Wire::kPathFieldNumber)) {
      file.path = proto::as_text(fields.bytes());
    } else if (fields.is_varint(Wire::kBytesFieldNumber)) {
      file.bytes = fields.varint();
    } else if (fields.is_varint(Wire::kModeFieldNumber)) {
      file.mode = low32(fields.varint());
    } else if (fields.is_varint(Wire::kModifiedNsFieldNumber)) {
      file.modified_ns = static_cast<std::int64_t>(fields.varint());
    } else if (fields.is_varint(Wire::kKindFieldNumber)) {
      kind = fields.varint();
    } else if (fields.is_bytes(Wire::kDigestFieldNumber)) {
      digest = proto::as_text(fields.bytes());
    } else if (fields.is_bytes(Wire::kTargetFieldNumber)) {
      file.target = proto::as_text(fields.bytes());
    }
  }
  if (kind > Wire::LINK) return std::nullopt;
  file.kind = static_cast<FileEntry::Kind>(kind);
  if (file.kind != FileEntry::Kind::kFile) {
    if (!digest.empty()) return std::nullopt;
  } else if (const auto known = Digest::from_bytes(digest)) {
    file.digest = *known;
  } else {
    return std::nullopt;
  }
  return file;
}

// Reads a FolderEntry; check_folders() checks it later.
FolderEntry folder_from_bytes(std::span<const std::uint8_t> bytes) {
  using Wire = wire::FolderEntry;
  FolderEntry folder;
  folder.mode = 0;
  for (proto::FieldReader fields(bytes); fields.next();) {
    if (fields.is_bytes(Wire::kPathFieldNumber)) {
      folder.path = proto::as_text(fields.bytes());
    } else if (fields.is_varint(Wire::kModeFieldNumber)) {
      folder.mode = low32(fields.varint());
    } else if (fields.is_varint(Wire::kModifiedNsFieldNumber)) {
      folder.modified_ns = static_cast<std::int64_t>(fields.varint());
    }
  }
  return folder;
}

// An Info as it stands on the wire, its rules not checked yet.
struct WireInfo {
  Info info;
  std::uint32_t version = 0;
  std::uint64_t hash = 0;
  std::string_view digests, root;       // views of the bytes
  std::optional<std::size_t> bad_file;  // the first one that file_from_bytes refused
};

// Not the generated parser's work: that keeps every field it does not know in an object of some
// forty bytes, though the field may have two. Nothing here needs them: the bytes themselves are
// kept.
WireInfo read_info(std::span<const std::uint8_t> bytes) {
  using Wire = wire::Info;
  WireInfo read;
  Info& info = read.info;
  for (proto::FieldReader fields(bytes); fields.next();) {
    if (fields.is_varint(Wire::kVersionFieldNumber)) {
      read.version = low32(fields.varint());
    } else if (fields.is_bytes(Wire::kNameFieldNumber)) {
      info.name = proto::as_text(fields.bytes());
    } else if (fields.is_varint(Wire::kSingleFileFieldNumber)) {
      info.single_file = fields.varint() != 0;
    } else if (fields.is_bytes(Wire::kFilesFieldNumber)) {
      std::optional<FileEntry> file = file_from_bytes(fields.bytes());
      if (!file && !read.bad_file) read.bad_file = info.files.size();
      info.files.push_back(file ? *std::move(file) : FileEntry{});
    } else if (fields.is_bytes(Wire::kFoldersFieldNumber)) {
      info.folders.push_back(folder_from_bytes(fields.bytes()));
    } else if (fields.is_varint(Wire::kGenerationSizeFieldNumber)) {
      info.shape.generation_size = low32(fields.varint());
    } else if (fields.is_varint(Wire::kBlockBytesFieldNumber)) {
      info.shape.block_bytes = low32(fields.varint());
    } else if (fields.is_varint(Wire::kContentBytesFieldNumber)) {
      info.shape.content_bytes = fields.varint();
    } else if (fields.is_bytes(Wire::kGenerationDigestsFieldNumber)) {
      read.digests = proto::as_text(fields.bytes());
    } else if (fields.is_bytes(Wire::kRootFieldNumber)) {
      read.root = proto::as_text(fields.bytes());
    } else if (fields.is_varint(Wire::kHashFieldNumber)) {
      read.hash = fields.varint();
    } else if (fields.is_bytes(Wire::kAuthorityKeyFieldNumber)) {
      info.authority_key = proto::as_text(fields.bytes());
    } else if (fields.is_varint(Wire::kIsPrivateFieldNumber)) {
      info.is_private = fields.varint() != 0;
    }
  }
  return read;
}

}  // namespace

Status check_info(Info& info) {
  if (Status name = check_content_path(info.name); !name.ok())
    return broken("the name " + in_quotes(info.name) + " is not safe: " + name.error().detail);
  if (info.name.find('/') != std::string::npos)
    return broken("the name " + in_quotes(info.name) + " has a slash");
  if (Status shape = check_shape(info.shape); !shape.ok()) return shape;
  if (info.single_file && info.files.size() != 1)
    return broken("the content is one file, but " + std::to_string(info.files.size()) +
                  " are listed");
  if (info.files.size() > limits::kFileCountMax)
    return broken("there are more than " + std::to_string(limits::kFileCountMax) + " files");

  std::uint64_t sum = 0;
  for (FileEntry& file : info.files) {
    if (Status status = check_file(info, file); !status.ok()) return status;
    // Never past content_bytes, which check_shape has bounded: no overflow.
    if (file.bytes > info.shape.content_bytes - sum)
      return broken("the files' sizes add up to more than the content's " +
                    std::to_string(info.shape.content_bytes) + " bytes");
    sum += file.bytes;
  }
  if (sum != info.shape.content_bytes)
    return broken("the files' sizes add up to " + std::to_string(sum) + " bytes, the content has " +
                  std::to_string(info.shape.content_bytes));
  if (!info.authority_key.empty() && info.authority_key.size() != kIdBytes)
    return broken("the authority key has " + std::to_string(info.authority_key.size()) +
                  " bytes instead of " + std::to_string(kIdBytes));
  if (!info.authority_key.empty() && !is_public_key(info.authority_key))
    return broken("the authority key is none: anybody could sign with it");
  lay_out(info);
  if (info.shape.generation_count() > limits::kGenerationCountMax)
    return broken("the files make " + std::to_string(info.shape.generation_count()) +
                  " generations; at most " + std::to_string(limits::kGenerationCountMax) +
                  " are allowed; choose larger generations");
  if (info.generation_digests.size() != info.shape.generation_count())
    return broken("there are " + std::to_string(info.generation_digests.size()) + " digests for " +
                  std::to_string(info.shape.generation_count()) + " generations");
  return check_tree(info);
}

std::string info_to_bytes(const Info& info) {
  return info_to_bytes(info, info.authority_key);
}

std::string info_to_bytes(const Info& info, std::string_view authority_key) {
  google::protobuf::Arena arena;
  auto& to = *google::protobuf::Arena::CreateMessage<wire::Info>(&arena);
  to.set_version(kInfoVersion);
  to.set_name(info.name);
  to.set_single_file(info.single_file);
  for (const FileEntry& file : info.files) {
    wire::FileEntry& entry = *to.add_files();
    entry.set_path(file.path);
    entry.set_bytes(file.bytes);
    entry.set_mode(file.mode);
    entry.set_modified_ns(file.modified_ns);
    entry.set_kind(static_cast<wire::FileEntry::Kind>(file.kind));
    if (file.kind == FileEntry::Kind::kFile) entry.set_digest(std::string(file.digest.raw()));
    entry.set_target(file.target);
  }
  for (const FolderEntry& folder : info.folders) {
    wire::FolderEntry& entry = *to.add_folders();
    entry.set_path(folder.path);
    entry.set_mode(folder.mode);
    entry.set_modified_ns(folder.modified_ns);
  }
  to.set_generation_size(info.shape.generation_size);
  to.set_block_bytes(info.shape.block_bytes);
  to.set_content_bytes(info.shape.content_bytes);
  std::string& digests = *to.mutable_generation_digests();
  digests.reserve(info.generation_digests.size() * kIdBytes);
  for (const Digest& digest : info.generation_digests) digests += digest.raw();
  to.set_root(std::string(merkle_root(info.generation_digests).raw()));
  to.set_hash(wire::HASH_SHA_256);
  to.set_authority_key(std::string(authority_key));
  to.set_is_private(info.is_private);
  return to.SerializeAsString();
}

Result<Info> info_from_bytes(std::string_view bytes) {
  if (Status status = check_info_bytes(proto::as_bytes(bytes)); !status.ok()) return status.error();
  WireInfo read = read_info(proto::as_bytes(bytes));
  if (read.version != kInfoVersion)
    return broken("its info part has version " + std::to_string(read.version) +
                  ", this program knows version " + std::to_string(kInfoVersion));
  if (read.hash != wire::HASH_SHA_256)
    return broken("it is hashed with number " + std::to_string(read.hash) +
                  ", this program knows SHA-256 (1)");
  if (read.bad_file)
    return broken(
        "file " + std::to_string(*read.bad_file) +
        " is of a kind that this program does not know, or has no digest or one too many");
  Info& info = read.info;
  const std::string_view digests = read.digests;
  if (digests.size() % kIdBytes != 0) return broken("a digest is cut");
  info.generation_digests.reserve(digests.size() / kIdBytes);
  for (std::size_t at = 0; at < digests.size(); at += kIdBytes)
    info.generation_digests.push_back(*Digest::from_bytes(digests.substr(at, kIdBytes)));
  if (Status status = check_info(info); !status.ok()) return status.error();
  if (merkle_root(info.generation_digests).raw() != read.root)
    return Error{ErrorCode::kCorrupt, "check the manifest",
                 "its root is not that of its generations' digests"};
  return std::move(info);
}

}  // namespace firn
