// The mark of a download's work folder: 16 random bytes in its file `mark`, as 32 hexadecimal
// digits. The daemon notes them, and so recognises the folder that the download had before: a disk
// that is not mounted leaves an empty folder of the same name. Device and inode numbers are no
// proof, as they change over mounts.
#pragma once

#include <string>

#include "client/store/files.h"
#include "proto/base/ids.h"

namespace firn::store {

// The mark of the work folder `work`, which is made if it has none. Durable but for its folder's
// entry.
Result<std::string> take_work_mark(Files& files, const std::string& work);

// Notes in the file `seal` which file the mark is: its inode and the time of its last change, which
// no archive can bring along. A work folder that was copied or unpacked is not sealed.
Status seal(Files& files, const std::string& work);
Result<bool> is_sealed(Files& files, const std::string& work);

// Whether what a download had in `dir` is still there: the work folder with this mark, or something
// of the content's top name, as the download may have been finished. Makes nothing. Errors: the
// disk's; a missing `dir` is none.
Result<bool> download_is_there(const std::string& dir, const ContentId& content,
                               const std::string& top_name, const std::string& mark);

}  // namespace firn::store
