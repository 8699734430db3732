// The choice of files that a download keeps in its work folder (file `choice`), so that a later run
// knows what should be there. Its text is a digit for each entry of the manifest: 1 if it is
// chosen, else 0. Without it all files are chosen.
//
// A content of which only a part was chosen and fetched keeps its work folder, which holds what
// those files share with others. It is served as a download that is opened with the kept choice
// (ContentStore::open_download).
#pragma once

#include <string>
#include <vector>

#include "client/store/files.h"
#include "proto/content/manifest.h"

namespace firn::store {

// Replaces the choice kept in the work folder `work`, durably. After an error the last one is kept.
// Nothing is written if it is kept already.
Status keep_choice(Files& files, const std::string& work, const std::vector<bool>& chosen);

// As OpenOptions::chosen: empty if all are chosen, or nothing is kept. kCorrupt if the file is not
// a choice of this content's entries: then take it that all are chosen, and say so.
Result<std::vector<bool>> kept_choice(Files& files, const Manifest& manifest);
// Of what is in `dir`, which need not be there.
Result<std::vector<bool>> kept_choice(const std::string& dir, const Manifest& manifest);

}  // namespace firn::store
