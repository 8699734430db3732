// The content's bytes in their files, each either on its way (<work>/data/<path>) or finished
// (<name>/<path>). Knows nothing of verification: the caller says what is good.
//
// Any thread, also at once, but for writing and using the same bytes.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "client/store/files.h"
#include "proto/manifest.h"

namespace firn::store {

enum class Place : std::uint8_t {
  kAbsent,    // no file of ours; one is made at the first write
  kWork,      // on its way
  kFinished,  // under its final name
};

class ContentFiles {
 public:
  // `work`: the work folder, relative to the folder of `files`. Both are kept by reference.
  ContentFiles(Files& files, const Info& info, std::string work);

  std::string final_name(std::uint32_t file) const;  // relative to the folder of `files`
  std::string work_name(std::uint32_t file) const;

  Place place(std::uint32_t file) const;
  void set_place(std::uint32_t file, Place place);

  // Content bytes from `offset` on. Reading: kNotFound if a file is absent, kCorrupt if it is too
  // short. Writing makes absent files (sparse, at full size) with their folders; finished ones are
  // the user's and never written: kExists.
  Status read(std::uint64_t offset, std::span<std::uint8_t> out) const;
  Status write(std::uint64_t offset, std::span<const std::uint8_t> data);

  // Gives a file on its way its mode, time and final name. An empty one or a folder is made first.
  // kExists if something stands there and `replace` is false (folders that stand are taken). A mode
  // or time that the file system refuses is no error: take_warning() tells of the first.
  Status finish_file(std::uint32_t file, bool replace);
  // Takes a file at its final name back into the work folder.
  Status unfinish_file(std::uint32_t file);

  // What is not yet durable: files by index, folders by path.
  struct Unsynced {
    std::set<std::uint32_t> files;
    std::set<std::string> folders;
  };
  void note_unsynced(std::uint32_t file);       // data written
  void note_unsynced_name(std::uint32_t file);  // and the folders that lead to it
  Unsynced take_unsynced();
  void give_back(const Unsynced& unsynced);  // after a failed sync
  Status sync(const Unsynced& unsynced);

  // Something a person should know; empty if there is nothing new.
  std::string take_warning();

  // Closes cached files.
  void close_all();

 private:
  struct CachedFile {
    std::shared_ptr<File> file;
    bool writable = false;
    std::list<std::uint32_t>::iterator use;  // in recent_
  };

  Result<std::shared_ptr<File>> opened(std::uint32_t file, bool for_writing) const;
  Result<std::shared_ptr<File>> make(std::uint32_t file) const;
  Status finish_folder(std::uint32_t file);
  void attributes_refused(const std::string& name);
  void forget(std::uint32_t file) const;
  void note_folders(const std::string& path) const;
  std::string current_name(std::uint32_t file) const;

  Files& files_;
  const Info& info_;
  const std::string work_;

  mutable std::mutex mutex_;
  mutable std::vector<Place> places_;
  mutable Unsynced unsynced_;
  std::string warning_;
  bool warned_ = false;
  mutable std::map<std::uint32_t, CachedFile> cache_;
  mutable std::list<std::uint32_t> recent_;  // front: used last
};

}  // namespace firn::store
