#include "client/store/files.h"

namespace firn::store {

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
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

Status remove_tree(Files& files, const std::string& path) {
  Result<FileStat> stat = files.stat(path);
  if (!stat) return stat.error();
  if (stat->kind == FileKind::kMissing) return Done{};
  if (stat->kind != FileKind::kFolder) return files.remove(path);
  Result<std::vector<std::string>> names = files.list(path);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (Status s = remove_tree(files, path + "/" + name); !s) return s;
  }
  if (Result<bool> removed = files.remove_folder(path); !removed) return removed.error();
  return Done{};
}

}  // namespace firn::store
