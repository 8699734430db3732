#include "client/content/top_name.h"

namespace firn::content {

const std::string& top_name(const Info& info, const std::string& as) {
  return as.empty() ? info.name : as;
}

std::string final_path(const Info& info, const std::string& as, const std::string& dir,
                       std::uint32_t file) {
  std::string path = dir;
  if (!path.empty() && path.back() != '/') path += '/';
  path += top_name(info, as);
  if (!info.single_file) path += "/" + info.files.at(file).path;
  return path;
}

}  // namespace firn::content
