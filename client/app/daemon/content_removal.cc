#include "client/app/daemon/content_removal.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "client/content/top_name.h"
#include "client/store/files.h"
#include "client/store/name_claim.h"
#include "client/store/posix_files.h"
#include "client/store/work_folder.h"
#include "proto/base/digest.h"
#include "proto/content/manifest.h"

namespace firn::app {
namespace {

// The lock of the content's work folder; null: there is no such folder.
Result<std::unique_ptr<store::Lock>> take_work(store::Files& files, const std::string& work) {
  const auto there = files.stat(work);
  if (!there.ok()) return there.error();
  if (there->kind != store::FileKind::kFolder) return std::unique_ptr<store::Lock>();
  auto lock = files.lock(work + "/lock");
  if (lock.ok() && *lock == nullptr)
    return Error{ErrorCode::kExists, "delete " + files.full_path(work),
                 "another firn is downloading this content"};
  return lock;
}

Result<Digest> digest_of(store::File& file) {
  std::vector<std::uint8_t> piece(1 << 20);
  Sha256 hash;
  for (std::uint64_t at = 0;; at += piece.size()) {
    const auto got = file.read_at(at, piece);
    if (!got.ok()) return got.error();
    hash.update({piece.data(), *got});
    if (*got < piece.size()) return hash.finish();
  }
}

// Whether the content's own file or link stands there, or what the user has put in its place. A
// file of a complete content whose time has changed is read. A download gives a file its name and
// the manifest's time together, before others are there: any other time is that of a file in its
// way.
Result<bool> is_the_contents(store::Files& files, const std::string& path, const FileEntry& entry,
                             bool complete) {
  const auto there = files.stat(path);
  if (!there.ok()) return there.error();
  if (entry.kind == FileEntry::Kind::kLink) {
    if (there->kind != store::FileKind::kLink) return false;
    const auto target = files.read_link(path);
    if (!target.ok()) return target.error();
    return *target == entry.target;
  }
  if (there->kind != store::FileKind::kFile || there->bytes != entry.bytes) return false;
  if (there->modified_ns == entry.modified_ns) return true;
  if (!complete) return store::near_times(there->modified_ns, entry.modified_ns);
  const auto file = files.open(path, store::Files::Open::kRead);
  if (!file.ok()) return file.error();
  const auto digest = digest_of(**file);
  if (!digest.ok()) return digest.error();
  return *digest == entry.digest;
}

// What the user put in the place of a file stays, as a missing one does. After a failure the other
// files are still deleted; the first failure.
Status delete_finished(store::Files& files, const Info& info, const std::string& as,
                       bool complete) {
  Status first = Done{};
  const auto note = [&first](const Status& status) {
    if (first.ok() && !status.ok()) first = status;
  };
  // Deepest first: a path sorts behind those of the folders that it is in.
  std::set<std::string, std::greater<>> folders;
  for (std::uint32_t i = 0; i < info.files.size(); ++i) {
    const std::string path = content::final_path(info, as, "", i);
    if (info.files[i].kind == FileEntry::Kind::kFolder) {
      folders.insert(path);
    } else if (const auto ours = is_the_contents(files, path, info.files[i], complete);
               !ours.ok()) {
      note(ours.error());
    } else if (*ours) {
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

// Only in the content's own folder: another file of its name, one level deeper, is another's.
Status delete_content(const KeptContent& content) {
  std::optional<Manifest> manifest;
  const bool complete = content.finished_at != 0;
  if ((complete || content.kind == KeptContent::Kind::kDownload) && !content.manifest.empty()) {
    auto parsed = parse_manifest(content.manifest, content.id);
    if (!parsed.ok()) return parsed.error();
    manifest = *std::move(parsed);
  }
  const auto files = store::open_posix_files(content.folder, false);
  if (!files.ok())
    return files.error().code == ErrorCode::kNotFound ? Status(Done{}) : files.error();
  const std::string folder = store::WorkFolder::path_of(content.id);
  const auto work = take_work(**files, folder);
  if (!work.ok()) return work.error();
  // Of a download that has had no work folder, what bears its name is the user's.
  if (manifest && (content.begun() || *work != nullptr)) {
    const Status finished = delete_finished(**files, manifest->info, content.as, complete);
    if (!finished.ok()) return finished;
  }
  if (*work != nullptr)
    if (const Status removed = remove_tree(**files, folder); !removed.ok()) return removed;
  if (manifest) store::NameClaim::clear(**files, content::top_name(manifest->info, content.as));
  return store::WorkFolder::remove_media(**files, content.id);
}

}  // namespace firn::app
