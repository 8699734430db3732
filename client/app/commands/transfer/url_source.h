// A file of a web server or bucket that a command is given by its URL, in place of a content or a
// file of this machine: what get and create share.
#pragma once

#include <memory>
#include <string>

#include "client/app/commands/options/origin_options.h"
#include "client/app/console/console.h"
#include "client/app/origin/origin_reading.h"
#include "client/content/create.h"
#include "proto/base/result.h"

namespace firn::app {

// Whether `text` begins as such a URL: https://, http:// or s3://, in either case.
bool is_url(const std::string& text);

struct UrlSource {
  OriginUrl url;
  std::string name;  // of the file here
};

// Whose name is `as`, or else the last part of the URL. Errors: kBadInput (no URL; that of a
// folder, whose files a web server does not list; a name that needs --as).
Result<UrlSource> read_url(const std::string& text, const std::string& as);

// `options` with this URL as an --origin too. One that may hold secrets is left out, which a
// warning says: nobody has looked whether it may be published.
OriginOptions with_origin(OriginOptions options, const UrlSource& source, Console& console);

class UrlProgress;

// For reading `source`, not begun, which is shown by `progress`, that must outlive it. `options`:
// what may go along with requests. Errors: kUnsupported (built without libcurl), kBadInput, those
// of AWS's files.
Result<std::unique_ptr<OriginReading>> reading_of(const UrlSource& source,
                                                  const OriginOptions& options,
                                                  OriginReadingOptions reading,
                                                  UrlProgress& progress, Console& console);

// As a manifest has it; `reading` has begun.
FileEntry entry_of(const UrlSource& source, const OriginReading& reading);

// Reads to the end, which must come now. kCorrupt: more bytes come.
Status read_end(OriginReading& reading, const UrlSource& source);

// The manifest of the file, of which nothing is kept here. Reads it once, or twice if the server
// does not say its size. Errors: as content::create_manifest_of(), and those of OriginReading.
Result<Manifest> create_manifest_of_url(const UrlSource& source, const OriginOptions& options,
                                        const content::CreateOptions& create, Console& console);

}  // namespace firn::app
