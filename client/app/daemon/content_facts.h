// What is told of one of the daemon's contents: from what is kept of it, and from its session. As
// JSON it is docs/rpc.md's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "client/app/console/events.h"
#include "client/app/daemon/kept_content.h"
#include "client/content/file_choice.h"
#include "proto/base/result.h"
#include "proto/content/manifest.h"

namespace firn::app {

class ContentSession;
struct DaemonHost;

// How much of a content is chosen.
struct ChosenPart {
  std::size_t files = 0, all_files = 0;
  std::uint64_t bytes = 0;
};
// Null: all of it.
std::optional<ChosenPart> chosen_part(const Info& info, const content::FileChoice& choice);
// Of no members if it is null.
Json part_json(const std::optional<ChosenPart>& part);

// Of a content whose choice may be changed to this one. Errors: as content::chosen_files()'s.
Result<std::optional<ChosenPart>> chosen_part(const KeptContent& kept,
                                              const content::FileChoice& choice);

// Its files. `session`: null while it has none. Errors: kNotFound (its manifest has not come yet).
Result<Json> files_json(const KeptContent& kept, const std::string& name, ContentSession* session);

Json kept_json(const KeptContent& kept);

// How others reach it.
Json ways_to_it(ContentSession* session, const DaemonHost& host);

}  // namespace firn::app
