#include "tests/store/memory_disk.h"

#include <algorithm>
#include <utility>

namespace firn::store::test {
namespace {

constexpr std::uint64_t kSector = 512;

Error dead(const std::string& operation) {
  return {ErrorCode::kIo, operation, "the process was killed"};
}
Error missing(const std::string& operation) {
  return {ErrorCode::kNotFound, operation, "No such file or directory"};
}
Error exists_already(const std::string& operation) {
  return {ErrorCode::kExists, operation, "something stands there"};
}

}  // namespace

std::set<std::string> MemoryDisk::NameChange::folders() const {
  std::set<std::string> folders;
  if (!from.empty()) folders.insert(parent_of(from));
  if (!to.empty()) folders.insert(parent_of(to));
  // A new folder's own entries come after it.
  if (node != nullptr && node->folder && !to.empty()) folders.insert(to);
  return folders;
}

MemoryDisk::Verdict MemoryDisk::begin_change() {
  if (killed_) return Verdict::kDead;
  if (changes_++ == kill_at_) {
    killed_ = true;
    return Verdict::kTorn;
  }
  return Verdict::kGo;
}

void MemoryDisk::kill_at(std::uint64_t change) {
  const std::lock_guard lock(mutex_);
  changes_ = 0;
  kill_at_ = change;
}

void MemoryDisk::restart() {
  const std::lock_guard lock(mutex_);
  killed_ = false;
  kill_at_ = UINT64_MAX;
  locked_.clear();
}

void MemoryDisk::apply(std::vector<std::uint8_t>& data, const Change& change) {
  if (change.kind == Change::kResize) data.resize(change.bytes);
  if (change.kind == Change::kHole) {
    for (std::uint64_t i = change.offset;
         i < std::min<std::uint64_t>(change.offset + change.bytes, data.size()); ++i) {
      data[i] = 0;
    }
  }
  if (change.kind == Change::kWrite) {
    data.resize(std::max<std::uint64_t>(data.size(), change.offset + change.data.size()));
    std::copy(change.data.begin(), change.data.end(),
              data.begin() + static_cast<std::ptrdiff_t>(change.offset));
  }
}

bool MemoryDisk::apply(Names& names, const NameChange& change) {
  if (!change.to.empty()) {
    const std::string folder = parent_of(change.to);
    if (!folder.empty() && !names.contains(folder)) return false;
  }
  if (!change.from.empty()) names.erase(change.from);
  if (!change.to.empty()) names[change.to] = change.node;
  return true;
}

void MemoryDisk::change_names(NameChange change) {
  apply(names_, change);
  unsynced_names_.push_back(std::move(change));
}

// The folder's own changes, and earlier ones that they build on.
void MemoryDisk::sync_folder(const std::string& folder) {
  std::set<std::string> wanted{folder};
  std::vector<bool> keep(unsynced_names_.size(), false);
  for (std::size_t i = unsynced_names_.size(); i-- > 0;) {
    const std::set<std::string> touched = unsynced_names_[i].folders();
    if (std::none_of(touched.begin(), touched.end(),
                     [&](const std::string& f) { return wanted.contains(f); })) {
      continue;
    }
    // Of a folder's making only its parent's sync tells; its entries do not bring it along.
    if (unsynced_names_[i].to == folder && unsynced_names_[i].node->folder) continue;
    keep[i] = true;
    wanted.insert(touched.begin(), touched.end());
  }
  std::vector<NameChange> rest;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i] || !apply(durable_names_, unsynced_names_[i])) rest.push_back(unsynced_names_[i]);
  }
  unsynced_names_ = std::move(rest);
}

void MemoryDisk::lose_unsynced(Node& node, std::mt19937_64& random) {
  std::uint64_t size = node.durable.size();
  const std::size_t sizes_kept = random() % (node.unsynced.size() + 1);
  for (std::size_t i = 0; i < node.unsynced.size(); ++i) {
    const Change& change = node.unsynced[i];
    if (i < sizes_kept) {
      if (change.kind == Change::kResize) size = change.bytes;
      if (change.kind == Change::kWrite) {
        size = std::max<std::uint64_t>(size, change.offset + change.data.size());
      }
    }
    if (change.kind == Change::kResize && change.bytes < node.durable.size()) {
      if (i < sizes_kept) node.durable.resize(change.bytes);
    }
    if (change.kind == Change::kHole && random() % 2 == 0) apply(node.durable, change);
    if (change.kind != Change::kWrite) continue;
    for (std::uint64_t at = 0; at < change.data.size();) {
      const std::uint64_t in_sector = kSector - (change.offset + at) % kSector;
      const std::uint64_t bytes = std::min<std::uint64_t>(in_sector, change.data.size() - at);
      if (random() % 2 == 0) {
        const auto begin = change.data.begin() + static_cast<std::ptrdiff_t>(at);
        apply(node.durable, {Change::kWrite,
                             change.offset + at,
                             0,
                             {begin, begin + static_cast<std::ptrdiff_t>(bytes)}});
      }
      at += bytes;
    }
  }
  node.durable.resize(size);
  node.data = node.durable;
  node.unsynced.clear();
}

void MemoryDisk::cut_power_and_restart(std::uint64_t seed) {
  {
    const std::lock_guard lock(mutex_);
    std::mt19937_64 random(seed);
    const std::uint64_t loss_in_eight = random() % 9;
    std::set<std::string> lost;
    for (const NameChange& change : unsynced_names_) {
      const std::set<std::string> touched = change.folders();
      bool gone = random() % 8 < loss_in_eight;
      for (const std::string& folder : touched) gone = gone || lost.contains(folder);
      if (gone || !apply(durable_names_, change)) lost.insert(touched.begin(), touched.end());
    }
    unsynced_names_.clear();
    // What lies in a folder that is gone is gone.
    for (auto name = durable_names_.begin(); name != durable_names_.end();) {
      const std::string folder = parent_of(name->first);
      const bool orphan = !folder.empty() && !durable_names_.contains(folder);
      name = orphan ? durable_names_.erase(name) : std::next(name);
    }
    names_ = durable_names_;
    for (auto& [path, node] : names_) lose_unsynced(*node, random);
  }
  restart();
}

std::uint64_t MemoryDisk::used() const {
  std::uint64_t bytes = 0;
  for (const auto& [path, node] : names_) bytes += node->data.size();
  return bytes;
}

void MemoryDisk::damage(const std::string& path, std::uint64_t offset, std::uint8_t flip) {
  const std::lock_guard lock(mutex_);
  Node& node = *names_.at(path);
  node.data.at(offset) ^= flip;
  if (offset < node.durable.size()) node.durable[offset] ^= flip;
}

bool MemoryDisk::exists(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return names_.contains(path);
}

std::vector<std::uint8_t> MemoryDisk::bytes_of(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return names_.at(path)->data;
}

std::vector<std::string> MemoryDisk::paths() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> paths;
  for (const auto& [path, node] : names_) {
    if (!node->folder) paths.push_back(path);
  }
  return paths;
}

void MemoryDisk::put(const std::string& path, std::vector<std::uint8_t> bytes) {
  const std::lock_guard lock(mutex_);
  for (std::string folder = parent_of(path); !folder.empty(); folder = parent_of(folder)) {
    if (names_.contains(folder)) continue;
    const auto node = std::make_shared<Node>();
    node->folder = true;
    names_[folder] = durable_names_[folder] = node;
  }
  const auto node = std::make_shared<Node>();
  node->data = node->durable = std::move(bytes);
  names_[path] = durable_names_[path] = node;
}

void MemoryDisk::erase(const std::string& path) {
  const std::lock_guard lock(mutex_);
  names_.erase(path);
  durable_names_.erase(path);
}

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
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("resize " + path_);
    change({MemoryDisk::Change::kResize, 0, bytes, {}});
    return Done{};
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
      if (how != Open::kCreate || !parent_stands(path)) return missing("open " + path);
      if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("open " + path);
      disk_.change_names({"", path, std::make_shared<MemoryDisk::Node>()});
      found = disk_.names_.find(path);
    }
    if (found->second->folder || found->second->link) return exists_already("open " + path);
    return std::shared_ptr<File>(new MemoryFile(disk_, found->second, path));
  }

  Result<FileStat> stat(const std::string& path) override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.killed_) return dead("examine " + path);
    const auto found = disk_.names_.find(path);
    if (found == disk_.names_.end()) return FileStat{};
    const MemoryDisk::Node& node = *found->second;
    const FileKind kind = node.folder ? FileKind::kFolder
                          : node.link ? FileKind::kLink
                                      : FileKind::kFile;
    return FileStat{kind, node.data.size(), disk_.links_of(found->second), 0, node.inode};
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

  Result<bool> make_folder(const std::string& path) override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.names_.contains(path)) return false;
    if (!parent_stands(path)) return missing("make folder " + path);
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("make folder " + path);
    const auto node = std::make_shared<MemoryDisk::Node>();
    node->folder = true;
    disk_.change_names({"", path, node});
    return true;
  }

  Status make_folders(const std::string& path) override {
    const std::lock_guard lock(disk_.mutex_);
    for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
      const std::string part = path.substr(0, end);
      const auto found = disk_.names_.find(part);
      if (found == disk_.names_.end()) {
        if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("make folder " + part);
        const auto node = std::make_shared<MemoryDisk::Node>();
        node->folder = true;
        disk_.change_names({"", part, node});
      } else if (!found->second->folder) {
        return exists_already("make folder " + part);
      }
      if (end == std::string::npos) return Done{};
    }
  }

  Status make_link(const std::string& path, const std::string& target) override {
    const std::lock_guard lock(disk_.mutex_);
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
    const auto target = disk_.names_.find(to);
    const bool same = target != disk_.names_.end() && target->second == source->second;
    if (!same && target != disk_.names_.end() && (!replace || target->second->folder)) {
      return exists_already("rename " + from);
    }
    if (!replace && disk_.renames_by_linking_) return rename_by_linking(from, to, source->second);
    if (same) return Done{};  // as POSIX has it: both names stay
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("rename " + from);
    disk_.change_names({from, to, source->second});
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

  Result<bool> set_folder_attributes(const std::string& path, std::uint32_t,
                                     std::int64_t) override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("set mode of " + path);
    return !disk_.refuse_attributes_;
  }

  Status sync_folder(const std::string& path) override {
    const std::lock_guard lock(disk_.mutex_);
    if (disk_.begin_change() != MemoryDisk::Verdict::kGo) return dead("sync folder " + path);
    if (!path.empty() && !disk_.names_.contains(path)) return missing("sync folder " + path);
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

  Result<std::unique_ptr<Lock>> lock(const std::string& path) override {
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

std::unique_ptr<Files> MemoryDisk::mount() {
  return std::make_unique<MemoryFiles>(*this);
}

}  // namespace firn::store::test
