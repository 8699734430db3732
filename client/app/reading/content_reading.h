// One content as its readers see it: the session says what is verified and takes what is urgent,
// readers on other threads open files.
//
//   session (main thread)  -- verified, lost, choose, end -->  ContentReading  <-- open, read --
//   readers SwarmCore::hurry  <-- take_urgent --
//   DataPlane::lose  <-- take_unreadable --
//
// One mutex guards all of it and is never held while the disk is read, so neither side waits for
// the other. The store is held while the content can be read, and by each read while it lasts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "client/app/reading/readable_file.h"
#include "client/core/base/types.h"
#include "client/store/content_store.h"
#include "proto/base/result.h"
#include "proto/content/manifest.h"

namespace firn::app {

class ContentReading : public std::enable_shared_from_this<ContentReading> {
 public:
  // `verified`: a flag for each generation, those whose data can be read. `chosen`: a flag for each
  // file; empty: all. `changed` is called by any thread, must return at once, and says that
  // take_urgent() or take_unreadable() has something new; not after end().
  ContentReading(std::shared_ptr<store::ContentStore> store, std::vector<bool> verified,
                 std::vector<bool> chosen, std::function<void()> changed);

  // --- any thread ---

  // Null once the content has ended. To be let go of soon: it keeps the content's files from being
  // moved or removed.
  std::shared_ptr<const Manifest> manifest() const;
  // Whether Info::files[file] can be opened: it is a file and chosen, and the content has not
  // ended.
  bool chosen(std::size_t file) const;
  // `ready`: see ReadableFile::read(). It must return at once and call nothing of this content.
  // Errors: kNotFound (no such file, a folder or link, not chosen), kCancelled (it has ended).
  Result<std::unique_ptr<ReadableFile>> open(std::size_t file, std::function<void()> ready);

  // --- main thread ---

  void verified(std::uint32_t generation);  // its data can be read
  // It is fetched once more. If not, readers get the error of their next reading, unless its files
  // are right again.
  void lost(std::uint32_t generation, bool fetch_again);
  void choose(std::vector<bool> chosen);  // as in the constructor
  // What is read now; nullopt: as it was.
  std::optional<core::Urgent> take_urgent();
  // Generations that readers found changed or gone, each with the error of the store. Readers wait
  // for them until lost() or verified() is called.
  std::map<std::uint32_t, Error> take_unreadable();
  // Nothing comes any more: readers get what the disk has, or its error.
  void fetch_no_more();
  // Readers get kCancelled from now on. May be called again.
  void end();

 private:
  class File;
  struct Generation {
    std::uint32_t number = 0;
    std::vector<std::uint8_t> data;  // verified
  };

  // All of these with the mutex.
  Status may_read(std::size_t file) const;
  std::uint32_t generation_at(std::uint64_t position) const;
  core::Urgent urgent_of_all() const;
  void look_at_urgent();  // after anything that may change it
  void call_ready(const std::function<bool(const File&)>& concerned);  // and await no more

  mutable std::mutex mutex_;
  std::shared_ptr<store::ContentStore> store_;  // null: it has ended
  std::vector<bool> verified_;
  std::vector<bool> left_;  // per generation: lost, and not fetched again
  std::map<std::uint32_t, Error> unreadable_;
  std::vector<bool> chosen_;
  std::function<void()> changed_;
  std::vector<File*> files_;  // that are open
  // Readers take their slices of it, so that a large generation is read once. Null if no file is
  // open.
  std::shared_ptr<const Generation> last_read_;
  core::Urgent urgent_;
  bool urgent_taken_ = true;
};

}  // namespace firn::app
