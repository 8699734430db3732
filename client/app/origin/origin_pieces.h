// Where the bytes of generations stand at an origin: in which files, at which URLs, from which byte
// on.
//
//   content of one file     the origin's URL is that file; if it ends in '/', the file lies below
//                           it under the content's name
//   content of a folder     the URL ends in '/' and is that folder: the files lie below it under
//                           their paths
#pragma once

#include <cstdint>
#include <vector>

#include "client/app/origin/transfer_request.h"
#include "proto/base/result.h"
#include "proto/content/manifest.h"
#include "proto/content/origin_url.h"

namespace firn::app {

// Bytes of one file, to be asked for at once.
struct OriginPiece {
  std::uint32_t file = 0;  // index into Info::files
  FileRange range;         // of the file
  std::uint64_t at = 0;    // how many bytes of the run come before
};

// The content bytes of the generations [first, first + count), in order and without padding, as
// pieces that are as long as files and run allow.
std::vector<OriginPiece> origin_pieces(const Info& info, std::uint32_t first, std::uint32_t count);

// Errors: kBadInput: a folder is to come from a URL that is none.
Status check_origin_fits(const OriginUrl& origin, const Info& info);
// Where a file of the content lies at an origin that fits.
OriginUrl origin_file(const OriginUrl& origin, const Info& info, std::uint32_t file);

}  // namespace firn::app
