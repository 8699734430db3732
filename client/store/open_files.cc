#include "client/store/open_files.h"

#include <vector>

namespace firn::store {

OpenFiles& OpenFiles::of_process() {
  static OpenFiles* const files = new OpenFiles;
  return *files;
}

void OpenFiles::set_files_max(std::size_t files_max) {
  const std::lock_guard lock(mutex_);
  files_max_ = files_max;
}

std::shared_ptr<File> OpenFiles::take_out(KeptFiles::iterator kept) {
  std::shared_ptr<File> file = std::move(kept->second.file);
  recent_.erase(kept->second.use);
  kept_.erase(kept);
  return file;
}

std::shared_ptr<File> OpenFiles::find(const void* content, std::uint32_t file, bool for_writing) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find({content, file});
  if (found == kept_.end() || (for_writing && !found->second.writable)) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second.use);
  return found->second.file;
}

void OpenFiles::keep(const void* content, std::uint32_t file, std::shared_ptr<File> opened,
                     bool writable) {
  std::vector<std::shared_ptr<File>> closed;
  const std::lock_guard lock(mutex_);
  const Name name{content, file};
  if (const auto found = kept_.find(name); found != kept_.end()) closed.push_back(take_out(found));
  while (!recent_.empty() && kept_.size() >= files_max_)
    closed.push_back(take_out(kept_.find(recent_.back())));
  recent_.push_front(name);
  kept_[name] = {std::move(opened), writable, recent_.begin()};
}

void OpenFiles::forget(const void* content, std::uint32_t file) {
  std::shared_ptr<File> closed;
  const std::lock_guard lock(mutex_);
  if (const auto found = kept_.find({content, file}); found != kept_.end())
    closed = take_out(found);
}

void OpenFiles::forget(const void* content) {
  std::vector<std::shared_ptr<File>> closed;
  const std::lock_guard lock(mutex_);
  for (auto kept = kept_.lower_bound({content, 0});
       kept != kept_.end() && kept->first.first == content;)
    closed.push_back(take_out(kept++));
}

}  // namespace firn::store
