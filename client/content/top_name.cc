#include "client/content/top_name.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "proto/base/characters.h"
#include "proto/base/plain_text.h"

namespace firn::content {
namespace {

// The folder that HOME calls the user's home, or the system's list of users that of this user or of
// the folder's owner (`sudo firn get -o` into it); by any path to it.
bool is_user_home(const std::string& path) {
  struct stat folder {};
  if (::stat(path.empty() ? "." : path.c_str(), &folder) != 0) return false;
  const auto is = [&folder](const char* home) {
    struct stat there {};
    return home != nullptr && ::stat(home, &there) == 0 && there.st_dev == folder.st_dev &&
           there.st_ino == folder.st_ino;
  };
  if (is(std::getenv("HOME"))) return true;
  const auto is_of = [&is](uid_t id) {
    struct passwd user {};
    struct passwd* found = nullptr;
    char texts[4096];
    const int failed = ::getpwuid_r(id, &user, texts, sizeof texts, &found);
    return failed == 0 && found != nullptr && is(found->pw_dir);
  };
  return is_of(::geteuid()) || is_of(folder.st_uid);
}

}  // namespace

const std::string& top_name(const Info& info, const std::string& as) {
  return as.empty() ? info.name : as;
}

std::string as_option(const std::string& as) {
  return as.empty() ? "" : " --as '" + as + "'";
}

std::string final_path(const Info& info, const std::string& as, const std::string& dir,
                       std::uint32_t file) {
  std::string path = dir;
  if (!path.empty() && path.back() != '/') path += '/';
  path += top_name(info, as);
  if (!info.single_file) path += "/" + info.files.at(file).path;
  return path;
}

std::string_view name_fault(std::string_view name, bool in_home) {
  const std::string shown = without_ignorable(name);
  if (shown.starts_with('.')) return "begins with '.', as names that programs read unasked";
  if (shown.starts_with('-')) return "begins with '-', as options of commands";
  if (in_home && lower_case(shown) == "bin")
    return "is that of the folder in your home that shells look for programs in";
  return "";
}

Status check_as(const std::string& as) {
  const Error refused{ErrorCode::kBadInput, "store a content as '" + as + "'", ""};
  if (as.find('/') != std::string::npos)
    return Error{refused.code, refused.operation, "it must be one name, without a slash"};
  const Status safe = check_content_path(as);
  return safe.ok() ? safe : Error{refused.code, refused.operation, safe.error().detail};
}

Status check_top_name(const Info& info, const ContentPlace& place) {
  if (!place.as.empty()) return check_as(place.as);
  const std::string_view fault = name_fault(info.name, is_user_home(place.dir));
  if (fault.empty()) return Done{};
  return Error{
      ErrorCode::kExists, "put '" + info.name + "' into " + place.dir,
      "the content's name " + std::string(fault) + "; choose another name for it (--as NAME)"};
}

}  // namespace firn::content
