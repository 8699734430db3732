#include "client/store/files.h"

#include <algorithm>

#include "client/store/differences.h"

namespace firn::store {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;

}  // namespace

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

Status make_folders(Files& files, const std::string& path) {
  for (std::size_t end = 0; end < path.size(); ++end) {
    end = std::min(path.find('/', end), path.size());
    if (auto made = files.make_folder(path.substr(0, end), 0777); !made) return made.error();
  }
  return Done{};
}

Status write_whole_file(Files& files, const std::string& path, std::span<const std::uint8_t> data) {
  const std::string fresh = path + ".new";
  {
    Result<std::shared_ptr<File>> file = files.open(fresh, Files::Open::kCreate);
    if (!file) return file.error();
    if (Status s = (*file)->resize(0); !s) return s;
    if (Status s = (*file)->write_at(0, data); !s) return s;
    if (Status s = (*file)->sync(); !s) return s;
  }
  return files.rename(fresh, path, true);
}

Result<std::vector<std::uint8_t>> read_whole_file(Files& files, const std::string& path,
                                                  std::uint64_t bytes_max) {
  Result<std::shared_ptr<File>> file = files.open(path, Files::Open::kRead);
  if (!file) return file.error();
  Result<FileStat> stat = (*file)->stat();
  if (!stat) return stat.error();
  if (stat->bytes > bytes_max) {
    return Error{ErrorCode::kCorrupt, "read " + files.full_path(path),
                 "the file has more than " + std::to_string(bytes_max) + " bytes"};
  }
  std::vector<std::uint8_t> data(stat->bytes);
  Result<std::size_t> got = (*file)->read_at(0, data);
  if (!got) return got.error();
  data.resize(*got);
  return data;
}

Result<bool> Files::link_from(const std::string&, const std::string&) {
  return false;
}

Result<std::uint64_t> Files::free_bytes(const std::string&) {
  return UINT64_MAX;
}

Result<std::shared_ptr<File>> copy_file(Files& files, const File& from, std::uint64_t bytes,
                                        const std::string& path) {
  Result<std::shared_ptr<File>> to = files.open(path, Files::Open::kCreate);
  if (!to) return to;
  if (Status s = (*to)->resize(0); !s) return s.error();  // of an earlier run
  if (Status s = (*to)->resize(bytes); !s) return s.error();
  std::vector<std::uint8_t> piece(std::min<std::uint64_t>(bytes, kPieceBytes));
  for (std::uint64_t at = 0; at < bytes;) {
    Result<std::size_t> got =
        from.read_at(at, std::span(piece).first(std::min<std::uint64_t>(bytes - at, piece.size())));
    if (!got) return got.error();
    if (*got == 0) break;  // it is short
    const auto data = std::span<const std::uint8_t>(piece).first(*got);
    for (const ByteRun& run : runs_beside_zeros(at, data)) {
      if (Status s = (*to)->write_at(at + run.begin, data.subspan(run.begin, run.bytes)); !s)
        return s.error();
    }
    at += *got;
  }
  if (Status s = (*to)->sync(); !s) return s.error();
  return to;
}

Result<bool> same_bytes(Files& files, const std::string& one, const std::string& other) {
  const Result<std::shared_ptr<File>> a = files.open(one, Files::Open::kRead);
  if (!a) return a.error();
  const Result<std::shared_ptr<File>> b = files.open(other, Files::Open::kRead);
  if (!b) return b.error();
  std::vector<std::uint8_t> from_a(kPieceBytes), from_b(kPieceBytes);
  for (std::uint64_t at = 0;; at += kPieceBytes) {
    const Result<std::size_t> got_a = (*a)->read_at(at, from_a);
    if (!got_a) return got_a.error();
    const Result<std::size_t> got_b = (*b)->read_at(at, from_b);
    if (!got_b) return got_b.error();
    if (*got_a != *got_b || !std::equal(from_a.begin(), from_a.begin() + *got_a, from_b.begin()))
      return false;
    if (*got_a < kPieceBytes) return true;
  }
}

Status remove_tree(Files& files, const std::string& path, const std::function<bool()>& cancelled) {
  if (cancelled && cancelled())
    return Error{ErrorCode::kCancelled, "remove " + files.full_path(path), "stopped"};
  Result<FileStat> stat = files.stat(path);
  if (!stat) return stat.error();
  if (stat->kind == FileKind::kMissing) return Done{};
  if (stat->kind != FileKind::kFolder) return files.remove(path);
  Result<std::vector<std::string>> names = files.list(path);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (Status s = remove_tree(files, path + "/" + name, cancelled); !s) return s;
  }
  if (Result<bool> removed = files.remove_folder(path); !removed) return removed.error();
  return Done{};
}

}  // namespace firn::store
