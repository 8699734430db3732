// A bounded cache of open content files, shared by all contents of a process. The least recently
// used file is closed first, so an idle content soon holds no descriptor.
//
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "client/store/files.h"

namespace firn::store {

// What a download holds open beside its files: its folder, lock, journal and spool.
inline constexpr std::size_t kDescriptorsOfDownload = 5;

class OpenFiles {
 public:
  // Each file takes two descriptors at most: a second one from its first use past the page cache on
  // (direct_access.h).
  static constexpr std::size_t kDescriptorsOfFile = 2;

  static constexpr std::size_t kFilesMaxUsual = 32;

  // The one that all contents share. Never destroyed.
  static OpenFiles& of_process();

  // From the next file that is opened on.
  void set_files_max(std::size_t files_max);

  // `content` names one content's files among all, by its address. Null: it is not open, or not for
  // writing where that is asked for.
  std::shared_ptr<File> find(const void* content, std::uint32_t file, bool for_writing);
  // In place of what is kept of it. May close the one used longest ago, once nobody uses it.
  void keep(const void* content, std::uint32_t file, std::shared_ptr<File> opened, bool writable);
  void forget(const void* content, std::uint32_t file);
  // All files of this content.
  void forget(const void* content);

 private:
  using Name = std::pair<const void*, std::uint32_t>;
  struct Kept {
    std::shared_ptr<File> file;
    bool writable = false;
    std::list<Name>::iterator use;  // in recent_
  };
  using KeptFiles = std::map<Name, Kept>;

  // With mutex_ held. The caller closes what it returns without it: that may take long.
  std::shared_ptr<File> take_out(KeptFiles::iterator kept);

  std::mutex mutex_;
  std::size_t files_max_ = kFilesMaxUsual;
  KeptFiles kept_;
  std::list<Name> recent_;  // front: used last
};

}  // namespace firn::store
