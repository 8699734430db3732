// Where a program's data lies for a while.
#pragma once

#include <memory>
#include <string>

#include "proto/base/result.h"

namespace firn::app {

// $TMPDIR; else /var/tmp, as what lies in /tmp may be memory; else /tmp.
std::string place_for_temporaries();

// A folder of this user alone, deleted with all that is in it when this is destroyed. A kill leaves
// it.
class TemporaryFolder {
 public:
  static Result<std::unique_ptr<TemporaryFolder>> make();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

}  // namespace firn::app
