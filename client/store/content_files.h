// The content's bytes in their files, each either on its way (<work>/data/<path>) or finished
// (<top name>/<path>). Knows nothing of verification: the caller says what is good.
//
// Any thread, also at once, but for writing and using the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "client/store/differences.h"
#include "client/store/files.h"
#include "client/store/hash_memory.h"
#include "client/store/open_files.h"
#include "proto/content/manifest.h"

namespace firn::store {

enum class Place : std::uint8_t {
  kAbsent,    // no file of ours; one is made at the first write
  kWork,      // on its way
  kFinished,  // under its final name
};

class ContentFiles {
 public:
  // `work`: the work folder, relative to the folder of `files`. `as`: as OpenOptions::as. `files`
  // and `info` are kept by reference.
  ContentFiles(Files& files, const Info& info, std::string work, std::string as);
  ~ContentFiles() { open_files_.forget(this); }
  ContentFiles(const ContentFiles&) = delete;
  ContentFiles& operator=(const ContentFiles&) = delete;

  // The content's own file or folder; relative to the folder of `files`, as all names here.
  const std::string& top_name() const;
  std::string final_name(std::uint32_t file) const;
  std::string work_name(std::uint32_t file) const;

  Place place(std::uint32_t file) const;
  void set_place(std::uint32_t file, Place place);

  // Content bytes from `offset` on. Reading: kNotFound if a file is absent, kCorrupt if it is too
  // short. Writing makes absent files (sparse, at full size) with their folders, and writes only
  // what differs from what is there: a file's holes stay holes, what was right already is left
  // alone. After a failed sync all of it is written, whatever can be read back. Finished files are
  // the user's and are passed over: they were right when they got their names.
  // `stamps`, if given, learns what the files were like before and after, also of one too short.
  enum class Reading { kUsual, kOnce /* not likely to be read again soon */ };
  Status read(std::uint64_t offset, std::span<std::uint8_t> out, ReadStamps* stamps = nullptr,
              Reading reading = Reading::kUsual) const;
  Status write(std::uint64_t offset, std::span<const std::uint8_t> data);
  // Finds these bytes' files by their names once more, and tells what they are like now: one that
  // was put in another's place is what read() reads from then on. Errors: kNotFound, disk.
  Status find_again(std::uint64_t offset, std::uint64_t bytes, ReadStamps& stamps) const;
  // What was written into this file may be damaged: it is compared from now on.
  void doubt(std::uint32_t file);

  // Files on their way that somebody has deleted: they are absent from now on, and what they held
  // is gone. Looks at a part of all in turn. If the folder that they are in is gone too, it may
  // come back, and nothing is told. No write() meanwhile.
  std::vector<std::uint32_t> take_deleted();

  // Gives a file on its way its mode, time and final name. An empty one, a link or a folder is made
  // first. One whose final name is on another file system is copied there. kExists if something
  // stands there and `replace` is false (folders that stand are taken). A mode or time that the
  // file system refuses is no error: take_warning() tells of the first.
  Status finish_file(std::uint32_t file, bool replace);
  // Makes the folder of a content without files, and gives folders their times; when all is in
  // them.
  Status finish_folders();
  // Takes a file at its final name back into the work folder, made writable. One that has other
  // names too (hard links), or is on another file system, is copied there, and stays where it is
  // until it is replaced: what bears those names is not changed. True: it was copied. An error
  // leaves the file as it was.
  Result<bool> unfinish_file(std::uint32_t file);
  // Opens a file of the work folder for writing, also one that got its final mode before a kill.
  Result<std::shared_ptr<File>> open_writable(std::uint32_t file) const;
  Result<std::shared_ptr<File>> open_readable(std::uint32_t file) const;

  // What is not yet durable: files by index, folders by path.
  struct Unsynced {
    std::set<std::uint32_t> files;
    std::set<std::string> folders;
  };
  void note_unsynced(std::uint32_t file);       // data written
  void note_unsynced_name(std::uint32_t file);  // the folders that lead to it
  Unsynced take_unsynced();
  void give_back(const Unsynced& unsynced);  // after a failed sync
  Status sync(const Unsynced& unsynced);

  // Something a person should know; empty if there is nothing new.
  std::string take_warning();
  // Adds to that.
  void warn(const std::string& text);

 private:
  // What may be taken for granted of a file on its way.
  enum class Known : std::uint8_t {
    kHoles,    // made in this run: zeros where nothing was written
    kReads,    // what is read from it is what is on the disk
    kNothing,  // a sync failed: pages that read right may never have reached the disk
  };

  Result<std::shared_ptr<File>> opened(std::uint32_t file, bool for_writing) const;
  Result<std::shared_ptr<File>> make(std::uint32_t file) const;
  Status sync_files(const Unsynced& unsynced);
  Status finish_folder(std::uint32_t file);
  Status take_final_name(std::uint32_t file, const std::string& from, bool replace);
  Status finish_on_other_disk(std::uint32_t file, const File& from, bool replace);
  std::string copy_name(std::uint32_t file) const;
  Status finish_link(std::uint32_t file, bool replace);
  std::vector<ByteRun> runs_to_write(std::uint32_t file, const File& there, std::uint64_t offset,
                                     std::span<const std::uint8_t> data) const;
  Status kept(const std::string& name, const Result<bool>& attributes);
  void note_folders(const std::string& path) const;
  std::string current_name(std::uint32_t file) const;

  Files& files_;
  const Info& info_;
  const std::string work_, as_;
  const std::string work_top_ = work_ + "/data";     // the folder of work names
  OpenFiles& open_files_ = OpenFiles::of_process();  // by this object's address

  mutable std::mutex mutex_;
  mutable std::vector<Place> places_;
  mutable std::vector<Known> known_;
  mutable Unsynced unsynced_;
  std::uint32_t look_at_ = 0;  // take_deleted() goes on there
  std::string warning_;
  bool warned_ = false;
};

}  // namespace firn::store
