// A file system that takes README and readme for one name, and keeps the one that came first.
#pragma once

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/store/files.h"

namespace firn::store::test {

class FoldingFiles final : public Files {
 public:
  explicit FoldingFiles(std::unique_ptr<Files> files) : files_(std::move(files)) {}

  Result<std::shared_ptr<File>> open(const std::string& path, Open how) override {
    return files_->open(kept(path), how);
  }
  Result<FileStat> stat(const std::string& path) override { return files_->stat(kept(path)); }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return files_->list(kept(path));
  }
  Result<bool> make_folder(const std::string& path, std::uint32_t mode) override {
    return files_->make_folder(kept(path), mode);
  }
  Status make_link(const std::string& path, const std::string& target) override {
    return files_->make_link(kept(path), target);
  }
  Result<std::string> read_link(const std::string& path) override {
    return files_->read_link(kept(path));
  }
  Status rename(const std::string& from, const std::string& to, bool replace) override {
    return files_->rename(kept(from), kept(to), replace);
  }
  Status remove(const std::string& path) override { return files_->remove(kept(path)); }
  Result<bool> remove_folder(const std::string& path) override {
    return files_->remove_folder(kept(path));
  }
  Result<bool> set_folder_time(const std::string& path, std::int64_t modified_ns) override {
    return files_->set_folder_time(kept(path), modified_ns);
  }
  Status sync_folder(const std::string& path) override { return files_->sync_folder(kept(path)); }
  Status sync_all() override { return files_->sync_all(); }
  Result<std::unique_ptr<Lock>> lock(const std::string& path) override {
    return files_->lock(kept(path));
  }
  std::string full_path(const std::string& path) const override { return files_->full_path(path); }

 private:
  static bool same(const std::string& a, const std::string& b) {
    return std::ranges::equal(
        a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
  }

  // The path by the names that are there.
  std::string kept(const std::string& path) const {
    std::string found;
    for (std::size_t begin = 0; begin < path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      std::string name = path.substr(begin, end - begin);
      if (const auto names = files_->list(found); names.ok())
        for (const std::string& there : *names)
          if (same(there, name)) name = there;
      found += (found.empty() ? "" : "/") + name;
      begin = end + 1;
    }
    return found;
  }

  const std::unique_ptr<Files> files_;
};

}  // namespace firn::store::test
