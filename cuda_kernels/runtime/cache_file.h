// Small files in the user's cache folder, for what was measured once on this machine. A file that
// cannot be read or written is no error: it is measured again.
#pragma once

#include <filesystem>
#include <string>

namespace firn::cuda {

// $XDG_CACHE_HOME/firn or $HOME/.cache/firn; empty if neither is set.
std::string default_cache_folder();
// Empty if there is no such file.
std::string read_cache_file(const std::filesystem::path& path);
// Under its name at once or not at all: another process may read it, or write it, at any time.
// Makes the folder if it is missing. Replaces nothing but such a file.
void write_cache_file(const std::filesystem::path& path, const std::string& text);
// 16 digits: tells texts apart, not attackers off.
std::string cache_hash(const std::string& text);

}  // namespace firn::cuda
