// Keeps two downloads of different contents from one top name in one folder at the same time. What
// bears a name is there from the moment that a file moves in, or stays empty until then, so that
// alone it does not say that another process is about to use it.
//
//   DIR/.firn/names/<top name>/lock   held from the opening of a download to its end
//
// The name is a folder's: the file system says which names are one. What a kill leaves harms no
// one; the next claim takes it over, and clear() removes it.
#pragma once

#include <memory>
#include <string>

#include "client/store/files.h"
#include "proto/base/result.h"

namespace firn::store {

class NameClaim {
 public:
  // `files` is kept by reference; its folder of work folders is there. kExists if another download
  // has the name.
  static Result<std::unique_ptr<NameClaim>> take(Files& files, const std::string& name);
  // Removes what a kill has left of a claim to the name, unless somebody has it.
  static void clear(Files& files, const std::string& name);
  // Removes what it has made, and the folder of work folders if nothing else is in that.
  ~NameClaim();
  NameClaim(const NameClaim&) = delete;
  NameClaim& operator=(const NameClaim&) = delete;

 private:
  NameClaim(Files& files, const std::string& name);

  Files& files_;
  const std::string folder_;
  std::unique_ptr<Lock> lock_;
};

}  // namespace firn::store
