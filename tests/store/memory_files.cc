// A process's view of a MemoryDisk: its files and folders, and the calls at which it may be killed.
#include <algorithm>
#include <utility>

#include "client/store/claim_lock.h"
#include "tests/store/memory_disk.h"

namespace firn::store::test {
namespace {

Error dead(const std::string& operation) {
  return {ErrorCode::kIo, operation, "the process was killed"};
}
Error missing(const std::string& operation) {
  return {ErrorCode::kNotFound, operation, "No such file or directory"};
}
Error unsupported(const std::string& operation) {
  return {ErrorCode::kUnsupported, operation, "Operation not supported"};
}
Error exists_already(const std::string& operation) {
  return {ErrorCode::kExists, operation, "something stands there"};
}

}  // namespace

class MemoryFile final : public File {
 public:
  MemoryFile(MemoryDisk& disk, MemoryDisk::NodePtr node, std::string path)
      : disk_(disk), node_(std::move(node)), path_(std::move(path)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.killed_) return dead("read " + path_);
    return copy(node_->data, offset, out);
  }

  Result<std::size_t> read_once_at(std::uint64_t offset,
                                   std::span<std::uint8_t> out) const override {
    {
      const std::lock_guard lock(disk_.mutex_);
      if (disk_.pass_by_memory_ && !disk_.killed_ && node_->unsynced.empty()) {
        ++disk_.passed_by_;
        std::vector<std::uint8_t> durable = node_->durable;
        durable.resize(node_->data.size());
        return copy(durable, offset, out);
      }
    }
    return read_at(offset, out);
  }

  Status write_at(std::uint64_t offset, std::span<const std::uint8_t> data) override {
    disk_.before_write_();
    const std::lock_guard lock(disk_.mutex_);
    const auto verdict = disk_.begin_change();
    if (verdict == MemoryDisk::Verdict::kDead) return dead("write " + path_);
    const std::uint64_t size = node_->data.size();
    const std::uint64_t growth = offset + data.size() - std::min(size, offset + data.size());
    const bool full = disk_.capacity_ != 0 && growth > 0 && disk_.used() + growth > disk_.capacity_;
    if (full || verdict == MemoryDisk::Verdict::kTorn) data = data.first(data.size() / 2);
    disk_.bytes_written_ += data.size();
    if (!data.empty()) change({MemoryDisk::Change::kWrite, offset, 0, {data.begin(), data.end()}});
    if (verdict == MemoryDisk::Verdict::kTorn) return dead("write " + path_);
    if (full) return Error{ErrorCode::kDiskFull, "write " + path_, "No space left on device"};
    return Done{};
  }

  Status resize(std::uint64_t bytes) override {
    const std::lock_guard lock(disk_.mutex_);
    if (bytes > disk_.system.file_bytes_max) return unsupported("resize " + path_);
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("resize " + path_);
    change({MemoryDisk::Change::kResize, 0, bytes, {}});
    return Done{};
  }

  Status check_size(std::uint64_t bytes) const override {
    return bytes > disk_.system.file_bytes_max ? Status(unsupported("make " + path_)) : Done{};
  }

  Result<bool> punch_hole(std::uint64_t offset, std::uint64_t bytes) override {
    const std::lock_guard lock(disk_.mutex_);
    if (!disk_.holes_) return false;
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("free space in " + path_);
    change({MemoryDisk::Change::kHole, offset, bytes, {}});
    return true;
  }

  Status sync() override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("sync " + path_);
    if (disk_.failing_syncs_ > 0 && disk_.good_syncs_-- <= 0) {
      --disk_.failing_syncs_;
      node_->unsynced.clear();  // "clean" from now on, but never on the disk
      if (disk_.evict_) {
        const std::size_t size = node_->data.size();
        node_->data = node_->durable;
        node_->data.resize(size);
      }
      return Error{ErrorCode::kIo, "sync " + path_, "Input/output error"};
    }
    for (const auto& unsynced : node_->unsynced) MemoryDisk::apply(node_->durable, unsynced);
    node_->unsynced.clear();
    return Done{};
  }

  Result<bool> set_attributes(std::uint32_t, std::int64_t) override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("set mode of " + path_);
    return !disk_.refuse_attributes_;
  }

  Result<FileStat> stat() const override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.killed_) return dead("examine " + path_);
    return FileStat{FileKind::kFile, node_->data.size(), disk_.links_of(node_),
                    disk_.times_ns_, node_->inode,       disk_.times_ns_};
  }

 private:
  static std::size_t copy(const std::vector<std::uint8_t>& from, std::uint64_t offset,
                          std::span<std::uint8_t> out) {
    const std::uint64_t begin = std::min<std::uint64_t>(offset, from.size());
    const std::uint64_t bytes = std::min<std::uint64_t>(out.size(), from.size() - begin);
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin), bytes, out.begin());
    return static_cast<std::size_t>(bytes);
  }

  void change(MemoryDisk::Change change) {
    MemoryDisk::apply(node_->data, change);
    node_->unsynced.push_back(std::move(change));
  }

  MemoryDisk& disk_;
  const MemoryDisk::NodePtr node_;
  const std::string path_;
};

class MemoryLock final : public Lock {
 public:
  MemoryLock(MemoryDisk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}
  ~MemoryLock() override {
    const std::lock_guard lock(disk_.mutex_);
    disk_.locked_.erase(path_);
  }

 private:
  MemoryDisk& disk_;
  const std::string path_;
};

class MemoryFiles final : public Files {
 public:
  explicit MemoryFiles(MemoryDisk& disk) : disk_(disk) {}

  std::string full_path(const std::string& path) const override { return "/" + path; }

  Result<std::shared_ptr<File>> open(const std::string& path, Open how) override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.killed_) return dead("open " + path);
    auto found = disk_.names_.find(path);
    if (found == disk_.names_.end()) {
      const bool makes = how == Open::kCreate || how == Open::kMake;
      if (!makes || !parent_stands(path)) return missing("open " + path);
      if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("open " + path);
      disk_.change_names({"", path, std::make_shared<MemoryDisk::Node>()});
      found = disk_.names_.find(path);
    } else if (how == Open::kMake) {
      return exists_already("open " + path);
    }
    if (found->second->folder || found->second->link) return exists_already("open " + path);
    if (how == Open::kRead && path == disk_.unreadable_)
      return Error{ErrorCode::kReadOnly, "open " + path, "no permission"};
    return std::shared_ptr<File>(new MemoryFile(disk_, found->second, path));
  }

  Result<FileStat> stat(const std::string& path) override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.killed_) return dead("examine " + path);
    const auto found = disk_.names_.find(path);
    FileStat stat;
    if (found == disk_.names_.end()) return stat;
    const MemoryDisk::Node& node = *found->second;
    stat.kind = node.folder ? FileKind::kFolder : node.link ? FileKind::kLink : FileKind::kFile;
    stat.bytes = node.data.size();
    stat.links = disk_.links_of(found->second);
    stat.modified_ns = stat.changed_ns = disk_.times_ns_;
    stat.inode = node.inode;
    return stat;
  }

  Result<std::vector<std::string>> list(const std::string& path) override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.killed_) return dead("read folder " + path);
    std::vector<std::string> names;
    for (const auto& [name, node] : disk_.names_) {
      if (parent_of(name) == path) {
        names.push_back(path.empty() ? name : name.substr(path.size() + 1));
      }
    }
    return names;
  }

  Result<bool> make_folder(const std::string& path, std::uint32_t) override {
    const std::lock_guard lock(disk_.mutex_);
    if (const auto there = disk_.names_.find(path); there != disk_.names_.end()) {
      if (there->second->folder) return false;
      return exists_already("make folder " + path);
    }
    if (!parent_stands(path)) return missing("make folder " + path);
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("make folder " + path);
    const auto node = std::make_shared<MemoryDisk::Node>();
    node->folder = true;
    disk_.change_names({"", path, node});
    return true;
  }

  Status make_link(const std::string& path, const std::string& target) override {
    const std::lock_guard lock(disk_.mutex_);
    if (!disk_.system.links) return unsupported("make link " + path);
    if (disk_.names_.contains(path)) return exists_already("make link " + path);
    if (!parent_stands(path)) return missing("make link " + path);
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("make link " + path);
    const auto node = std::make_shared<MemoryDisk::Node>();
    node->link = true;
    node->data.assign(target.begin(), target.end());
    node->durable = node->data;
    disk_.change_names({"", path, node});
    return Done{};
  }

  Result<std::string> read_link(const std::string& path) override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.killed_) return dead("read link " + path);
    const auto found = disk_.names_.find(path);
    if (found == disk_.names_.end() || !found->second->link) return missing("read link " + path);
    return std::string(found->second->data.begin(), found->second->data.end());
  }

  Status rename(const std::string& from, const std::string& to, bool replace) override {
    const std::lock_guard lock(disk_.mutex_);
    const auto source = disk_.names_.find(from);
    if (source == disk_.names_.end() || !parent_stands(to)) return missing("rename " + from);
    if (disk_.system.device_of(from) != disk_.system.device_of(to))
      return unsupported("rename " + from);
    const auto target = disk_.names_.find(to);
    const bool same = target != disk_.names_.end() && target->second == source->second;
    if (!same && target != disk_.names_.end() && (!replace || target->second->folder)) {
      return exists_already("rename " + from);
    }
    if (!replace && disk_.renames_by_linking_) return rename_by_linking(from, to, source->second);
    if (same) return Done{};  // as POSIX has it: both names stay
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("rename " + from);
    disk_.change_names({from, to, source->second});
    const auto names = disk_.names_;  // of a folder, what is in it goes along
    for (auto below = names.lower_bound(from + "/");
         below != names.end() && below->first.starts_with(from + "/"); ++below)
      disk_.change_names({below->first, to + below->first.substr(from.size()), below->second});
    return Done{};
  }

  Status remove(const std::string& path) override {
    const std::lock_guard lock(disk_.mutex_);
    const auto found = disk_.names_.find(path);
    if (found == disk_.names_.end()) return Done{};
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("remove " + path);
    disk_.change_names({path, "", nullptr});
    return Done{};
  }

  Result<bool> remove_folder(const std::string& path) override {
    const std::lock_guard lock(disk_.mutex_);
    if (!disk_.names_.contains(path)) return false;
    for (const auto& [name, node] : disk_.names_) {
      if (parent_of(name) == path) return false;
    }
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("remove folder " + path);
    disk_.change_names({path, "", nullptr});
    return true;
  }

  Result<bool> set_folder_time(const std::string& path, std::int64_t) override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("set the time of " + path);
    return !disk_.refuse_attributes_;
  }

  Status sync_folder(const std::string& path) override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("sync folder " + path);
    if (!path.empty() && !disk_.names_.contains(path)) return missing("sync folder " + path);
    if (disk_.failing_folder_syncs_ > 0) {
      --disk_.failing_folder_syncs_;
      return Error{ErrorCode::kIo, "sync folder " + path, "made to fail"};
    }
    disk_.sync_folder(path);
    return Done{};
  }

  Status sync_all() override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("sync everything");
    for (auto& [path, node] : disk_.names_) {
      for (const auto& unsynced : node->unsynced) MemoryDisk::apply(node->durable, unsynced);
      node->unsynced.clear();
    }
    disk_.durable_names_ = disk_.names_;
    disk_.unsynced_names_.clear();
    return Done{};
  }

  Result<std::uint64_t> free_bytes(const std::string&) override { return disk_.system.free; }

  Result<std::unique_ptr<Lock>> lock(const std::string& path) override {
    if (!disk_.system.locks) return take_claim(files_of(disk_), path + ".claims");
    if (Result<std::shared_ptr<File>> file = open(path, Open::kCreate); !file) return file.error();
    const std::lock_guard lock(disk_.mutex_);
    if (!disk_.locked_.insert(path).second) return std::unique_ptr<Lock>();
    return std::unique_ptr<Lock>(new MemoryLock(disk_, path));
  }

 private:
  Status rename_by_linking(const std::string& from, const std::string& to,
                           const MemoryDisk::NodePtr& node) {
    if (!disk_.names_.contains(to)) {
      if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("link " + to);
      disk_.change_names({"", to, node});
    }
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("unlink " + from);
    disk_.change_names({from, "", nullptr});
    return Done{};
  }

  bool parent_stands(const std::string& path) const {
    const std::string parent = parent_of(path);
    return parent.empty() || disk_.names_.contains(parent);
  }

  MemoryDisk& disk_;
};

std::unique_ptr<Files> files_of(MemoryDisk& disk) {
  return std::make_unique<MemoryFiles>(disk);
}

}  // namespace firn::store::test
