// One file of an origin on its way into a folder of this machine. Its bytes are appended to a file
// in a work folder, and get their name at the end:
//
//   DIR/.firn/url-HASH/part    what has come
//                      state   which state of the file that is: bytes, validator, date, URL (a line
//                              each, without secrets); written before the first byte of `part`
//                      lock    flock(2), held by the process that downloads
//
// HASH is of URL (without secrets) and name. A file system makes the size of a file durable after
// the bytes below it, so that after a power cut the size of `part` says how much has come.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "client/app/origin/origin_reading.h"
#include "client/store/files.h"
#include "client/store/name_claim.h"
#include "proto/base/result.h"
#include "proto/content/origin_url.h"

namespace firn::app {

// Main thread, or one thread at a time.
class OriginDownload {
 public:
  // `name`: in the folder of `files`. Errors: kExists (something bears the name, but for a file
  // with `overwrite`; another process downloads that or something else to the name), and the
  // disk's. After an error nothing is left that was not there.
  static Result<std::unique_ptr<OriginDownload>> open(std::unique_ptr<store::Files> files,
                                                      const OriginUrl& url, const std::string& name,
                                                      bool overwrite);
  // What has come stays for the next run; where nothing has, the work folder goes.
  ~OriginDownload();
  OriginDownload(const OriginDownload&) = delete;
  OriginDownload& operator=(const OriginDownload&) = delete;

  // How many bytes have come, also in earlier runs; 0 if what they left is of no use.
  std::uint64_t bytes() const { return bytes_; }
  // The state that they are of.
  const OriginFileState& state() const { return state_; }

  // The file's bytes come from its beginning, in this state. kDiskFull if there is no room for
  // them.
  Status begin(const OriginFileState& state);
  // As begin(), of those that go on behind bytes().
  Status go_on();
  Status append(std::span<const std::uint8_t> bytes);
  // As File::read_at, of what has come.
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> out) const;
  // All has come: makes it durable and gives it the name, with the date that the server says.
  Status finish();

 private:
  OriginDownload(std::unique_ptr<store::Files> files, const OriginUrl& url, std::string name,
                 bool overwrite);
  Status check_name() const;
  Status take();
  void read_state();
  Status check_room() const;
  Status remove();
  std::string part_path() const { return work_ + "/part"; }
  std::string state_path() const { return work_ + "/state"; }

  const std::unique_ptr<store::Files> files_;
  const std::string name_;
  const bool overwrite_;
  const std::string url_;   // without secrets
  const std::string work_;  // the work folder
  std::unique_ptr<store::NameClaim> claim_;
  std::unique_ptr<store::Lock> lock_;
  OriginFileState state_;
  std::shared_ptr<store::File> part_;
  std::uint64_t bytes_ = 0;
};

}  // namespace firn::app
