#include "tests/store/memory_disk.h"

#include <algorithm>
#include <utility>

namespace firn::store::test {
namespace {

constexpr std::uint64_t kSector = 512;

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
    const NodePtr& made = unsynced_names_[i].node;
    if (made != nullptr && made->folder && unsynced_names_[i].to == folder) continue;
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

}  // namespace firn::store::test
