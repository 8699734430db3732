// The info part of a manifest: its rules, and its way to and from bytes.
#pragma once

#include <string>
#include <string_view>

#include "proto/content/manifest.h"

namespace firn {

// Checks every rule that an Info must keep (docs/formats.md lists them) and fills in the files'
// offsets and the shape's table (lay_out). Errors: kBadInput, says which rule is broken and where.
Status check_info(Info& info);

// `info` must have passed check_info.
std::string info_to_bytes(const Info& info);
// As if it named this authority.
std::string info_to_bytes(const Info& info, std::string_view authority_key);

// Errors: kBadInput (not an Info, or a rule is broken), kCorrupt (the Merkle root does not fit).
Result<Info> info_from_bytes(std::string_view bytes);

}  // namespace firn
