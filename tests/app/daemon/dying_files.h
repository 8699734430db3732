// Files of which the process is killed at a chosen call: that one and all later calls do nothing.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/store/files.h"

namespace firn::tests {

// Calls that change something, of all files together, until the kill.
struct Life {
  int calls_left = 1 << 30;
  bool dead() const { return calls_left <= 0; }
  bool spend() { return calls_left-- > 0; }
};

class DyingFiles final : public store::Files {
 public:
  // `links`: the file system has hard links.
  DyingFiles(std::unique_ptr<store::Files> files, Life& life, bool links)
      : files_(std::move(files)), life_(life), links_(links) {}

  Result<std::shared_ptr<store::File>> open(const std::string& path, Open how) override {
    if (how == Open::kRead ? life_.dead() : !life_.spend()) return killed();
    return files_->open(path, how);
  }
  Result<store::FileStat> stat(const std::string& path) override {
    if (life_.dead()) return killed();
    return files_->stat(path);
  }
  Result<std::vector<std::string>> list(const std::string& path) override {
    if (life_.dead()) return killed();
    return files_->list(path);
  }
  Result<bool> make_folder(const std::string& path, std::uint32_t mode) override {
    if (!life_.spend()) return killed();
    return files_->make_folder(path, mode);
  }
  Status make_link(const std::string& path, const std::string& target) override {
    return life_.spend() ? files_->make_link(path, target) : Status(killed());
  }
  Result<std::string> read_link(const std::string& path) override {
    if (life_.dead()) return killed();
    return files_->read_link(path);
  }
  Status rename(const std::string& from, const std::string& to, bool replace) override {
    return life_.spend() ? files_->rename(from, to, replace) : Status(killed());
  }
  Result<bool> link_from(const std::string& source, const std::string& path) override {
    if (!links_) return false;
    if (!life_.spend()) return killed();
    return files_->link_from(source, path);
  }
  Status remove(const std::string& path) override {
    return life_.spend() ? files_->remove(path) : Status(killed());
  }
  Result<bool> remove_folder(const std::string& path) override {
    if (!life_.spend()) return killed();
    return files_->remove_folder(path);
  }
  Result<bool> set_folder_time(const std::string& path, std::int64_t modified_ns) override {
    if (!life_.spend()) return killed();
    return files_->set_folder_time(path, modified_ns);
  }
  Status sync_folder(const std::string& path) override { return files_->sync_folder(path); }
  Status sync_all() override { return life_.spend() ? Status(Done{}) : Status(killed()); }
  Result<std::unique_ptr<store::Lock>> lock(const std::string& path) override {
    return files_->lock(path);
  }
  std::string full_path(const std::string& path) const override { return files_->full_path(path); }

 private:
  static Error killed() { return {ErrorCode::kIo, "go on", "the process was killed"}; }

  const std::unique_ptr<store::Files> files_;
  Life& life_;
  const bool links_;
};

}  // namespace firn::tests
