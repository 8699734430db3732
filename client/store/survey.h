// What an earlier run, or the user, left of a content on the disk: looked at when a download opens.
#pragma once

#include <cstdint>
#include <vector>

#include "client/store/content_files.h"
#include "client/store/content_store.h"
#include "client/store/file_mismatch.h"
#include "client/store/files.h"
#include "client/store/journal.h"

namespace firn::store {

struct Survey {
  std::vector<bool> verified;            // per generation
  std::vector<std::uint32_t> rehashed;   // of these, the ones that the journal did not vouch for
  std::vector<FileMismatch> in_the_way;  // what stands at chosen files' paths and is not theirs
  bool complete = false;                 // every file and folder stands finished, chosen or not
};

// Sets the place of each file in `content`. Generations that the journal calls durable are trusted
// while their files stand with the right size; others are hashed if the journal calls them
// verified, if a file of theirs stands under its final name or had a wrong size, or if the journal
// cannot be read. Of a finished file in which a generation was lost, all are hashed: the
// file was changed. `doubt_finished`: so are those of all finished files. Changes nothing on the
// disk, but for the size of files in the work folder.
//
// A file at its final path is finished if its bytes are right, else it is in the way; if it is not
// chosen, it is nothing to the download then. A generation that it shares with a file that is
// missing or wrong is not verified all the same.
// Errors: kCancelled, kExists (a link, or a file where a folder should be), disk errors.
Result<Survey> survey(Files& files, ContentFiles& content, const Manifest& manifest,
                      const JournalContents& journal, const OpenOptions& options,
                      bool doubt_finished);

// Whether a generation's bytes are right; `buffer` (at least Shape::padded_bytes) gets them,
// padding included.
// Reads a generation, its padding zero, into `out` (Shape::padded_bytes); `stamps` and `reading` as
// ContentFiles::read().
Status read_padded(const ContentFiles& content, const Info& info, std::uint32_t generation,
                   std::span<std::uint8_t> out, ReadStamps* stamps = nullptr,
                   ContentFiles::Reading reading = ContentFiles::Reading::kUsual);
// Whether these are the bytes of the manifest.
bool digest_is_right(const Info& info, std::uint32_t generation,
                     std::span<const std::uint8_t> data);
Result<bool> generation_is_right(const ContentFiles& content, const Info& info,
                                 std::uint32_t generation, std::span<std::uint8_t> buffer);

}  // namespace firn::store
