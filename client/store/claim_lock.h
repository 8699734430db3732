// A lock on a file system that has none (Lustre without `-o flock`, NFS without a lock daemon).
//
// Each process that wants the lock puts a file named after itself into one folder, then reads the
// folder. It holds the lock if it finds no other claim there, and else takes its own back. Of two
// that come at once at least one sees the other; both may be refused, but never do both hold it.
// A claim outlives a killed process: one of this machine whose process has ended counts no more,
// and is removed. Of a process on another machine nothing can be known, so its claim counts.
#pragma once

#include <memory>
#include <string>

#include "client/store/files.h"
#include "proto/base/result.h"

namespace firn::store {

// `folder` is made, and removed with the last claim. kExists if another claim counts; the error
// names its machine, and the file to remove if no firn runs there.
Result<std::unique_ptr<Lock>> take_claim(std::unique_ptr<Files> files, const std::string& folder);

}  // namespace firn::store
