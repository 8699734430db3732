#include "client/app/daemon/content_removal.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "client/content/create.h"
#include "client/content/find_folder.h"
#include "client/store/files.h"
#include "client/store/posix_files.h"
#include "client/store/work_folder.h"
#include "proto/content/manifest.h"

namespace firn::app {
namespace {

Status delete_work(store::Files& files, const ContentId& id) {
  const std::string work = store::WorkFolder::path_of(id);
  const auto there = files.stat(work);
  if (!there.ok()) return there.error();
  if (there->kind == store::FileKind::kFolder) {
    const auto lock = files.lock(work + "/lock");
    if (!lock.ok()) return lock.error();
    if (*lock == nullptr)
      return Error{ErrorCode::kExists, "delete " + files.full_path(work),
                   "another firn is downloading this content"};
    if (const Status removed = remove_tree(files, work); !removed.ok()) return removed;
  }
  return store::WorkFolder::remove_media(files, id);
}

// The first failure, if there is one; the others go on.
Status delete_finished(store::Files& files, const Info& info) {
  Status first = Done{};
  const auto note = [&first](const Status& status) {
    if (first.ok() && !status.ok()) first = status;
  };
  // Deepest first: a path sorts behind those of the folders that it is in.
  std::set<std::string, std::greater<>> folders;
  for (std::uint32_t i = 0; i < info.files.size(); ++i) {
    const std::string path = content::final_path(info, "", i);
    if (info.files[i].kind == FileEntry::Kind::kFolder) {
      folders.insert(path);
    } else {
      note(files.remove(path));
    }
    for (std::string up = store::parent_of(path); !up.empty(); up = store::parent_of(up))
      folders.insert(up);
  }
  for (const std::string& folder : folders)
    if (const auto removed = files.remove_folder(folder); !removed.ok()) note(removed.error());
  return first;
}

}  // namespace

Status delete_content(const KeptContent& content) {
  const bool files_are_its = content.finished_at != 0 || content.kind == KeptContent::Kind::kServe;
  std::string folder = content.folder;
  std::optional<Manifest> manifest;
  if (files_are_its && !content.manifest.empty()) {
    auto parsed = parse_manifest(content.manifest, content.id);
    if (!parsed.ok()) return parsed.error();
    manifest = *std::move(parsed);
    folder = content::find_content_folder(manifest->info, folder);
  }
  const auto files = store::open_posix_files(folder, false);
  if (!files.ok())
    return files.error().code == ErrorCode::kNotFound ? Status(Done{}) : files.error();
  Status work = delete_work(**files, content.id);
  if (!manifest) return work;
  const Status finished = delete_finished(**files, manifest->info);
  return work.ok() ? finished : work;
}

}  // namespace firn::app
