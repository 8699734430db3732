#include "client/app/daemon/watched_folder.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "client/store/posix_files.h"
#include "proto/content/content_secret.h"
#include "proto/content/link.h"
#include "proto/program/input_file.h"

namespace firn::app {
namespace {

constexpr const char* kManifestSuffix = ".firn";
// What is wrong for a while, such as a full disk.
constexpr core::TimeUs kTryAgain = 30 * core::kSecond;

// Whether the file itself is at fault.
bool is_refused(const Error& error) {
  return error.code == ErrorCode::kBadInput || error.code == ErrorCode::kCorrupt;
}

// How much a failure of one line says of the file: each line must be taken, or heard of. One that
// may be taken later keeps the file; one that never will, its name.
int weight(const Error& error) {
  return error.code == ErrorCode::kExists ? 1 : is_refused(error) ? 2 : 3;
}

// A manifest is added by its path, links one by one.
Result<std::vector<std::string>> sources_of(const std::string& path) {
  if (!path.ends_with(kLinkFileSuffix)) return std::vector{path};
  auto lines = read_input_lines(path, kLinkFileBytesMax);
  if (lines.ok() && lines->empty())
    return Error{ErrorCode::kBadInput, "read " + path, "there is no link in it"};
  return lines;
}

// To a name that is free: NAME.added, else NAME.added-2 and so on. What has such a name is the
// user's.
Status rename_in(const std::string& folder, const std::string& name, const std::string& suffix) {
  const auto files = store::open_posix_files(folder, false);
  if (!files.ok()) return files.error();
  const std::string wanted = name + suffix;
  for (unsigned number = 1;; ++number) {
    const std::string free = number == 1 ? wanted : wanted + "-" + std::to_string(number);
    const auto there = (*files)->stat(free);
    if (!there.ok()) return there.error();
    if (there->kind == store::FileKind::kMissing) return (*files)->rename(name, free, false);
  }
}

}  // namespace

Status check_watched(const WatchedFolder& watched) {
  const std::string operation = "watch the folder " + watched.folder;
  if (watched.output.empty())
    return Error{ErrorCode::kBadInput, operation,
                 "it is not known where contents go: name a folder with --download-dir"};
  if (!watched.folder.starts_with('/') || !watched.output.starts_with('/'))
    return Error{ErrorCode::kBadInput, operation, "both folders must be absolute paths"};
  std::error_code error;
  namespace fs = std::filesystem;
  if (fs::weakly_canonical(watched.folder, error) == fs::weakly_canonical(watched.output, error))
    return Error{ErrorCode::kBadInput, operation,
                 "contents must go to another folder: files that arrive would be added too"};
  return Done{};
}

Result<std::vector<WatchedFile>> files_to_add(const std::string& folder) {
  const auto files = store::open_posix_files(folder, false);
  if (!files.ok()) return files.error();
  const auto names = (*files)->list("");
  if (!names.ok()) return names.error();
  std::vector<WatchedFile> found;
  for (const std::string& name : *names) {
    if (name.starts_with('.') ||
        !(name.ends_with(kManifestSuffix) || name.ends_with(kLinkFileSuffix)))
      continue;
    const auto there = (*files)->stat(name);
    if (there.ok() && there->kind == store::FileKind::kFile)
      found.push_back({name, there->bytes, there->modified_ns, there->inode});
  }
  return found;
}

void FolderWatch::set(std::vector<WatchedFolder> folders) {
  folders_ = std::move(folders);
  missing_.clear();
  look_at_ = 0;
}

core::TimeUs FolderWatch::turn(core::TimeUs now) {
  if (folders_.empty()) return core::kNever;
  if (now < look_at_) return look_at_;
  if (task_.busy()) return core::kNever;  // its end brings a turn
  now_ = now;
  look_at_ = now + kInterval;
  auto look = [folders = folders_] {
    Looks looks;
    for (const WatchedFolder& watched : folders)
      looks.emplace_back(watched, files_to_add(watched.folder));
    return looks;
  };
  (void)task_.start(workers_, std::move(look), [this](const Looks& looks) { looked(looks); });
  return look_at_;
}

void FolderWatch::looked(const Looks& looks) {
  std::set<std::string> there;
  adds_left_ = kAddsPerLook;
  for (const auto& [watched, files] : looks) {
    if (!files.ok()) {
      const std::string why = files.error().message();
      if (std::exchange(missing_[watched.folder], why) != why)
        console_.warning("the watched folder cannot be read, and is tried again: " + why);
      continue;
    }
    if (missing_.erase(watched.folder) != 0)
      console_.info("the watched folder " + watched.folder + " is there again");
    for (const WatchedFile& file : *files) {
      there.insert(watched.folder + "/" + file.name);
      take(watched, file);
    }
  }
  std::erase_if(files_, [&](const auto& known) { return !there.contains(known.first); });
  if (adds_left_ == 0) look_at_ = now_;  // for the rest
}

void FolderWatch::take(const WatchedFolder& watched, const WatchedFile& file) {
  Known& known = files_[watched.folder + "/" + file.name];
  if (known.file != file) {
    known = {file, now_, now_ + kInterval};
  } else if (now_ >= known.again_at && adds_left_ > 0) {
    try_to_add(watched, known);
  }
}

void FolderWatch::try_to_add(const WatchedFolder& watched, Known& known) {
  const std::string path = watched.folder + "/" + known.file.name;
  if (!add_file(watched, known)) return;
  const Status added = std::exchange(known.first, Done{});
  known.lines = 0;
  known.again_at = now_ + kInterval;
  if (added.ok()) {
    console_.info("added " + path);
    rename(watched, ".added", known);
  } else if (added.error().code == ErrorCode::kExists) {
    console_.info(path + ": " + without_secrets(added.error().message()));
    rename(watched, ".added", known);
  } else if (!is_refused(added.error())) {
    known.again_at = now_ + kTryAgain;
    console_.warning(path + " is not added yet, and is tried again: " +
                     without_secrets(added.error().message()));
  } else if (now_ - known.since >= kPatience) {
    console_.error("watch", path + " is not added: " + without_secrets(added.error().message()));
    rename(watched, ".invalid", known);
  }
}

// False: there are lines left for the next look. Of several links those that can be are added.
bool FolderWatch::add_file(const WatchedFolder& watched, Known& known) {
  const std::string path = watched.folder + "/" + known.file.name;
  const auto note = [&first = known.first](Error error) {
    if (first.ok() || weight(first.error()) < weight(error)) first = std::move(error);
  };
  const auto sources = sources_of(path);
  if (!sources.ok()) {
    --adds_left_;
    note(sources.error());
    return true;
  }
  AddRequest request;
  request.folder = watched.output;
  for (; known.lines < sources->size() && adds_left_ > 0; ++known.lines, --adds_left_) {
    request.source = (*sources)[known.lines];
    if (request.source != path && !request.source.starts_with("firn:"))
      note(Error{ErrorCode::kBadInput, "read " + path, "a line in it is no link"});
    else if (const auto added = add_(request); !added.ok())
      note(added.error());
  }
  return known.lines >= sources->size();
}

void FolderWatch::rename(const WatchedFolder& watched, const std::string& suffix, Known& known) {
  const Status renamed = rename_in(watched.folder, known.file.name, suffix);
  if (renamed.ok()) return;
  console_.warning(renamed.error().message() + "; it is left alone until it changes");
  known.again_at = core::kNever;
}

}  // namespace firn::app
