// Files on a POSIX system. Every path is walked component by component with openat and O_NOFOLLOW
// from a descriptor of the folder, so that nothing that changes the tree meanwhile can lead a write
// outside of it. The folder itself is found by its name at each call, but stays open while a lock
// in it is held.
#pragma once

#include <memory>
#include <string>

#include "client/store/files.h"
#include "client/store/write_ways.h"

namespace firn::store {

// `folder` itself may be reached through links: the user named it. With `make`, it is made with its
// parents; else kNotFound if it is missing. `ways`: of large writes; null: to be found out.
Result<std::unique_ptr<Files>> open_posix_files(const std::string& folder, bool make,
                                                std::shared_ptr<WriteWays> ways = nullptr);

}  // namespace firn::store
