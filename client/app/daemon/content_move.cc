#include "client/app/daemon/content_move.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "client/app/daemon/move_check.h"
#include "client/content/top_name.h"
#include "client/store/content_folders.h"
#include "client/store/differences.h"
#include "client/store/name_claim.h"
#include "client/store/names.h"
#include "client/store/posix_files.h"
#include "client/store/top_folder.h"
#include "client/store/work_folder.h"

namespace firn::app {
namespace {

using store::FileKind;
using store::Files;
using store::WorkFolder;

// Of one stage(): a worker is not kept from other contents for long.
constexpr std::uint64_t kSliceBytes = 64 << 20;
constexpr std::size_t kSliceItems = 256;

// The deepest first: a path sorts behind those of the folders that it is in.
using Folders = std::set<std::string, std::greater<>>;

void add_parents(const std::string& path, Folders& folders) {
  for (std::string up = store::parent_of(path); !up.empty(); up = store::parent_of(up))
    folders.insert(up);
}

// What waits for its rename needs the owner's right to be written, and nobody else any.
std::uint32_t mode_of(const Files& files, const std::string& path) {
  struct stat there {};
  return ::lstat(files.full_path(path).c_str(), &there) == 0 ? there.st_mode & 07777 : 0600;
}

// Nobody downloads it: the lock is free, or there is none.
Status check_unused(Files& files, const ContentId& id) {
  const std::string work = WorkFolder::path_of(id);
  const auto there = files.stat(work);
  if (!there.ok()) return there.error();
  if (there->kind != FileKind::kFolder) return Done{};
  const auto lock = files.lock(work + "/lock");
  if (!lock.ok()) return lock.error();
  if (*lock != nullptr) return Done{};
  return Error{ErrorCode::kExists, "move " + files.full_path(work),
               "another firn is downloading this content"};
}

}  // namespace

Result<std::unique_ptr<ContentMove>> ContentMove::open(const KeptContent& content,
                                                       const content::ContentPlace& from,
                                                       const content::ContentPlace& to) {
  auto info = info_of(content);
  if (!info.ok()) return info.error();
  auto source = store::open_posix_files(from.dir, false);
  if (!source.ok() && source.error().code != ErrorCode::kNotFound) return source.error();
  auto target = store::open_posix_files(to.dir, true);
  if (!target.ok()) return target.error();
  std::shared_ptr<Files> there;
  if (source.ok()) {
    there = *std::move(source);
    if (const Status unused = check_unused(*there, content.id); !unused.ok()) return unused.error();
  }
  const bool complete = content.kind == KeptContent::Kind::kServe || content.finished_at != 0;
  return std::make_unique<ContentMove>(std::move(there), *std::move(target), content.id,
                                       *std::move(info), from.as, to.as, complete,
                                       complete || content.begun());
}

ContentMove::ContentMove(std::shared_ptr<Files> from, std::shared_ptr<Files> to,
                         const ContentId& id, std::optional<Info> info, const std::string& from_as,
                         const std::string& to_as, bool complete, bool begun)
    : from_(std::move(from)),
      to_(std::move(to)),
      id_(id),
      info_(std::move(info)),
      from_as_(from_as),
      to_as_(to_as),
      complete_(complete),
      begun_(begun),
      work_(WorkFolder::path_of(id)),
      stage_(std::string(WorkFolder::kParent) + "/move-" + id.text()) {}

// --- what there is ---

Result<std::vector<ContentMove::Item>> ContentMove::collect() const {
  std::vector<Item> items;
  if (from_ == nullptr) return items;
  const auto work = from_->stat(work_);
  if (!work.ok()) return work.error();
  // Of a download that has had no work folder, what bears its name is the user's.
  const bool named = begun_ || work->kind == FileKind::kFolder;
  for (std::uint32_t i = 0; info_ && named && i < info_->files.size(); ++i)
    if (const Status found = collect_entry(i, items); !found.ok()) return found.error();
  if (const Status found = collect_work(work_, items); !found.ok()) return found.error();
  if (const Status found = collect_media(items); !found.ok()) return found.error();
  return items;
}

// The size tells the files of a content that was complete from others; of a download that is not,
// also the time that a file gets with its name: another file may still be in its way.
Status ContentMove::collect_entry(std::uint32_t file, std::vector<Item>& items) const {
  const FileEntry& entry = info_->files[file];
  Item item{content::final_path(*info_, from_as_, "", file),
            content::final_path(*info_, to_as_, "", file),
            {},
            {},
            store::folder_mode(entry),
            entry.modified_ns};
  const auto there = from_->stat(item.from);
  if (!there.ok()) return there.error();
  item.stat = *there;
  if (entry.kind == FileEntry::Kind::kFolder) {
    if (there->kind == FileKind::kFolder) items.push_back(std::move(item));
  } else if (entry.kind == FileEntry::Kind::kLink) {
    if (there->kind != FileKind::kLink) return Done{};
    const auto target = from_->read_link(item.from);
    if (!target.ok()) return target.error();
    item.target = *target;
    if (*target == entry.target) items.push_back(std::move(item));
  } else if (there->kind == FileKind::kFile && there->bytes == entry.bytes) {
    if (complete_ || store::near_times(there->modified_ns, entry.modified_ns))
      items.push_back(std::move(item));
  }
  return Done{};
}

Status ContentMove::collect_work(const std::string& folder, std::vector<Item>& items) const {
  const auto there = from_->stat(folder);
  if (!there.ok()) return there.error();
  if (there->kind != FileKind::kFolder) return Done{};
  const auto names = from_->list(folder);
  if (!names.ok()) return names.error();
  for (const std::string& name : *names) {
    Item item{folder + "/" + name, folder + "/" + name, {}, {}};
    const auto stat = from_->stat(item.from);
    if (!stat.ok()) return stat.error();
    item.stat = *stat;
    if (stat->kind == FileKind::kFolder) {
      if (const Status below = collect_work(item.from, items); !below.ok()) return below;
    } else if (stat->kind == FileKind::kFile && item.from != work_ + "/lock" &&
               item.from != WorkFolder::top_name_path_of(id_)) {
      items.push_back(std::move(item));  // links are made anew when the download finishes
    }
  }
  return Done{};
}

Status ContentMove::collect_media(std::vector<Item>& items) const {
  const std::string folder = WorkFolder::kParent;
  const auto there = from_->stat(folder);
  if (!there.ok()) return there.error();
  if (there->kind != FileKind::kFolder) return Done{};
  const auto names = from_->list(folder);
  if (!names.ok()) return names.error();
  for (const std::string& name : *names) {
    Item item{folder + "/" + name, folder + "/" + name, {}, {}};
    if (!item.from.starts_with(WorkFolder::media_prefix_of(id_)) || name.ends_with(".lock"))
      continue;
    const auto stat = from_->stat(item.from);
    if (!stat.ok()) return stat.error();
    item.stat = *stat;
    if (stat->kind == FileKind::kFile) items.push_back(std::move(item));
  }
  return Done{};
}

// Whether `path` is the item, linked or copied.
Result<bool> ContentMove::same(Files& files, const std::string& path, const Item& item) const {
  const auto there = files.stat(path);
  if (!there.ok()) return there.error();
  if (there->kind != item.stat.kind) return false;
  if (there->kind == FileKind::kFolder) return true;
  if (there->kind == FileKind::kLink) {
    const auto target = files.read_link(path);
    if (!target.ok()) return target.error();
    return *target == item.target;
  }
  return there->bytes == item.stat.bytes &&
         store::near_times(there->modified_ns, item.stat.modified_ns);
}

// --- stage ---

Result<bool> ContentMove::stage() {
  if (!items_) {
    auto items = collect();
    if (!items.ok()) return items.error();
    if (complete_ && items->empty())
      return Error{ErrorCode::kNotFound, "move " + id_.short_text(),
                   "its files are not in its folder"};
    items_ = *std::move(items);
    if (const Status made = make_stage(); !made.ok()) return made.error();
    if (const Status tried = try_names(); !tried.ok()) return tried.error();
  }
  std::uint64_t bytes = 0;
  for (std::size_t count = 0; next_ < items_->size(); ++count) {
    if (bytes >= kSliceBytes || count >= kSliceItems) return false;
    const auto staged_bytes = stage_item((*items_)[next_]);
    if (!staged_bytes.ok()) return staged_bytes.error();
    bytes += *staged_bytes;
    if (copied_ == 0) ++next_;
  }
  if (const Status synced = to_->sync_all(); !synced.ok()) return synced.error();
  return true;
}

// Files have their final modes there, so nobody else may look into it.
Status ContentMove::make_stage() {
  if (const Status made = store::make_folders(*to_, WorkFolder::kParent); !made.ok()) return made;
  const auto made = to_->make_folder(stage_, 0700);
  return made.ok() ? Status(Done{}) : made.error();
}

// The new folder's file system may take two of the names for one, or refuse some.
Status ContentMove::try_names() {
  if (!info_ || info_->single_file) return Done{};
  if (const Status gone = remove_tried_names(); !gone.ok()) return gone;
  const Status made = store::make_names(*to_, *info_, tried_names(), {}, {});
  const Status gone = remove_tried_names();
  return made.ok() ? gone : made;
}

Status ContentMove::remove_tried_names() {
  for (const std::string& folder : {tried_names(), tried_names() + ".new"})
    if (const Status gone = store::remove_tree(*to_, folder); !gone.ok()) return gone;
  return Done{};
}

// The bytes that were copied. copied_ is not 0 afterwards if the item needs another call.
Result<std::uint64_t> ContentMove::stage_item(const Item& item) {
  if (item.stat.kind == FileKind::kFolder) return std::uint64_t{0};
  const std::string path = staged(item);
  if (copied_ == 0) {
    const auto done = same(*to_, path, item);
    if (!done.ok()) return done.error();
    if (*done) return std::uint64_t{0};
    if (const Status made = store::make_folders(*to_, store::parent_of(path)); !made.ok())
      return made.error();
    if (const Status gone = to_->remove(path); !gone.ok()) return gone.error();
    if (item.stat.kind == FileKind::kLink) {
      const Status made = to_->make_link(path, item.target);
      if (!made.ok()) return made.error();
      return std::uint64_t{0};
    }
    const auto linked = to_->link_from(from_->full_path(item.from), path);
    if (!linked.ok()) return linked.error();
    if (*linked) return std::uint64_t{0};
  }
  return copy_slice(item);
}

// Holes stay holes. A copy has its name once it is whole.
Result<std::uint64_t> ContentMove::copy_slice(const Item& item) {
  const auto from = from_->open(item.from, Files::Open::kRead);
  if (!from.ok()) return from.error();
  const std::string half = staged(item) + ".half";
  const auto to = to_->open(half, Files::Open::kCreate);
  if (!to.ok()) return to.error();
  if (copied_ == 0)
    if (const Status sized = (*to)->resize(item.stat.bytes); !sized.ok()) return sized.error();
  std::vector<std::uint8_t> piece(1 << 20);
  std::uint64_t bytes = 0;
  while (copied_ < item.stat.bytes && bytes < kSliceBytes) {
    const std::size_t wanted = std::min<std::uint64_t>(piece.size(), item.stat.bytes - copied_);
    const auto got = (*from)->read_at(copied_, std::span(piece).first(wanted));
    if (!got.ok()) return got.error();
    if (*got < wanted)
      return Error{ErrorCode::kCorrupt, "move " + from_->full_path(item.from),
                   "the file changed meanwhile"};
    const auto data = std::span<const std::uint8_t>(piece).first(wanted);
    for (const store::ByteRun& run : store::runs_beside_zeros(copied_, data))
      if (const Status written =
              (*to)->write_at(copied_ + run.begin, data.subspan(run.begin, run.bytes));
          !written.ok())
        return written.error();
    copied_ += wanted;
    bytes += wanted;
  }
  if (copied_ < item.stat.bytes) return bytes;
  copied_ = 0;
  if (const Status synced = (*to)->sync(); !synced.ok()) return synced.error();
  const auto set = (*to)->set_attributes(mode_of(*from_, item.from), item.stat.modified_ns);
  if (!set.ok()) return set.error();
  if (const Status named = to_->rename(half, staged(item), true); !named.ok()) return named.error();
  return bytes;
}

// --- place, clear, undo ---

Status ContentMove::place() {
  const auto stage = to_->stat(stage_);
  if (!stage.ok()) return stage.error();
  if (stage->kind == FileKind::kMissing)
    return Error{ErrorCode::kNotFound, "move to " + to_->full_path(""),
                 "what was to go there is gone, or was being taken back"};
  if (const Status ours = take_top_folder(); !ours.ok()) return ours;
  const auto items = collect();
  if (!items.ok()) return items.error();
  for (const Item& item : *items)
    if (const Status placed = place_item(item); !placed.ok()) return placed;
  if (const Status kept = keep_name(); !kept.ok()) return kept;
  // Folders last, and the deepest first: what is put into one changes its time.
  for (auto item = items->rbegin(); item != items->rend(); ++item)
    if (item->stat.kind == FileKind::kFolder) {
      const auto set = to_->set_folder_time(item->to, item->time_ns);
      if (!set.ok()) return set.error();
    }
  if (info_ && !info_->single_file)
    store::set_folder_times(*to_, *info_, content::top_name(*info_, to_as_));
  return to_->sync_all();
}

// As for a download: nothing goes into a folder that somebody has made since check_move(). The mark
// says that an earlier run has made it.
Status ContentMove::take_top_folder() {
  if (!info_ || info_->single_file) return Done{};
  const std::string mark = stage_ + "/" + WorkFolder::kParent + "/placing";
  const auto marked = to_->stat(mark);
  if (!marked.ok()) return marked.error();
  if (marked->kind != FileKind::kMissing) return Done{};
  const std::string& name = content::top_name(*info_, to_as_);
  const auto top = store::take_top_folder(*to_, *info_, name);
  if (!top.ok()) return top.error();
  if (*top == store::TopFolder::kTaken)
    return taken("move to " + to_->full_path(""), to_->full_path(name));
  if (const Status made = store::make_folders(*to_, store::parent_of(mark)); !made.ok())
    return made;
  const auto made = to_->open(mark, Files::Open::kCreate);
  return made.ok() ? Status(Done{}) : made.error();
}

// An unfinished download goes on under its new name.
Status ContentMove::keep_name() {
  const auto work = to_->stat(work_);
  if (!work.ok()) return work.error();
  if (!info_ || work->kind != FileKind::kFolder) return Done{};
  return WorkFolder::keep_top_name(*to_, id_, *info_, content::top_name(*info_, to_as_));
}

// The stage, which is empty by then or holds what is not to be placed any more.
Status ContentMove::remove_stage() {
  if (const Status removed = store::remove_tree(*to_, stage_); !removed.ok()) return removed;
  if (const Status removed = remove_tried_names(); !removed.ok()) return removed;
  if (const Status removed = store::remove_tree(*to_, undone()); !removed.ok()) return removed;
  const auto removed = to_->remove_folder(WorkFolder::kParent);  // unless other things are in it
  if (!removed.ok()) return removed.error();
  return Done{};
}

// One that is not staged was placed before a kill.
Status ContentMove::place_item(const Item& item) {
  if (item.stat.kind == FileKind::kFolder) {
    if (const Status made = make_parents(item.to); !made.ok()) return made;
    const auto made = to_->make_folder(item.to, item.mode);
    return made.ok() ? Status(Done{}) : made.error();
  }
  const std::string path = staged(item);
  const auto waiting = to_->stat(path);
  if (!waiting.ok()) return waiting.error();
  if (waiting->kind == FileKind::kMissing) {
    const auto placed = same(*to_, item.to, item);
    if (!placed.ok()) return placed.error();
    if (*placed) return Done{};
    return Error{ErrorCode::kNotFound, "move to " + to_->full_path(item.to),
                 "the file that was to go there is gone"};
  }
  if (const Status made = make_parents(item.to); !made.ok()) return made;
  return to_->rename(path, item.to, false);
}

// The folders that lead to `path`, those of the content with its modes.
Status ContentMove::make_parents(const std::string& path) {
  if (info_ && !info_->single_file)
    for (const std::string& top : {content::top_name(*info_, to_as_), work_ + "/data"})
      if (path.starts_with(top + "/"))
        return store::make_content_folder(*to_, *info_, top,
                                          store::parent_of(path.substr(top.size() + 1)));
  return store::make_folders(*to_, store::parent_of(path));
}

Status ContentMove::clear() {
  Status first = remove_stage();
  if (from_ == nullptr) return first;
  const auto note = [&first](const Status& status) {
    if (first.ok() && !status.ok()) first = status;
  };
  const auto items = collect();
  if (!items.ok()) return items.error();
  Folders folders;  // also of files that were deleted before a kill
  for (std::uint32_t i = 0; info_ && i < info_->files.size(); ++i) {
    const std::string path = content::final_path(*info_, from_as_, "", i);
    if (info_->files[i].kind == FileEntry::Kind::kFolder) folders.insert(path);
    add_parents(path, folders);
  }
  for (const Item& item : *items) {
    if (item.stat.kind == FileKind::kFolder) continue;
    if (const auto there = same(*to_, item.to, item); !there.ok()) {
      note(there.error());
    } else if (*there) {
      note(from_->remove(item.from));
    } else if (item.from.starts_with(work_)) {
      note(Error{ErrorCode::kNotFound, "delete " + from_->full_path(item.from),
                 "it has not arrived"});
    }
  }
  // What is left of the work folder has no use of its own, such as the lock.
  if (first.ok()) note(store::remove_tree(*from_, work_));
  if (info_) store::NameClaim::clear(*from_, content::top_name(*info_, from_as_));
  for (const std::string& folder : folders)
    if (const auto removed = from_->remove_folder(folder); !removed.ok()) note(removed.error());
  if (const auto removed = from_->remove_folder(WorkFolder::kParent); !removed.ok())
    note(removed.error());
  return first;
}

// What waits was not placed: the file of its name is another's. What does not wait was placed. Once
// the stage is gone, as by a renaming at once, it tells nothing, and all was taken back before.
Status ContentMove::undo(bool placed_some) {
  const auto stage = to_->stat(stage_);
  if (!stage.ok()) return stage.error();
  if (stage->kind == FileKind::kMissing) placed_some = false;
  Status first = Done{};
  const auto note = [&first](const Status& status) {
    if (first.ok() && !status.ok()) first = status;
  };
  const auto items = collect();
  if (!items.ok()) return items.error();
  Folders folders;
  if (placed_some)
    for (const Item& item : *items) {
      add_parents(item.to, folders);
      if (item.stat.kind == FileKind::kFolder) {
        folders.insert(item.to);
        continue;
      }
      const auto waiting = to_->stat(staged(item));
      const auto placed = same(*to_, item.to, item);
      if (!waiting.ok() || !placed.ok()) {
        note(waiting.ok() ? placed.error() : waiting.error());
      } else if (waiting->kind == FileKind::kMissing && *placed) {
        note(to_->remove(item.to));
      }
    }
  const std::string name = WorkFolder::top_name_path_of(id_);
  if (placed_some) {  // what keep_name() left
    note(to_->remove(name));
    note(to_->remove(name + ".new"));
  }
  for (const std::string& folder : folders)
    if (const auto removed = to_->remove_folder(folder); !removed.ok()) note(removed.error());
  if (stage->kind != FileKind::kMissing) {
    note(store::remove_tree(*to_, undone()));
    if (const Status renamed = to_->rename(stage_, undone(), false); !renamed.ok()) {
      note(renamed);
      return first;
    }
    note(to_->sync_all());  // what is recorded next must not come before this
  }
  note(remove_stage());
  return first;
}

}  // namespace firn::app
