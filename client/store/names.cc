#include "client/store/names.h"

#include "client/content/division.h"
#include "client/store/content_folders.h"

#include <string_view>
#include <unordered_set>

namespace firn::store {
namespace {

class Names {
 public:
  Names(Files& files, const Info& info, std::string folder, const std::vector<bool>& chosen,
        const std::function<bool()>& cancelled)
      : files_(files),
        info_(info),
        folder_(std::move(folder)),
        chosen_(chosen),
        wanted_(content::wanted_generations(info, chosen)),
        cancelled_(cancelled) {}

  Status make() {
    if (Status s = make_content_folder(files_, info_, folder_, ""); !s) return s;
    for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
      if (!has_name(file)) continue;
      const FileEntry& entry = info_.files[file];
      if (Status s = make_parents(entry.path); !s) return s;
      if (Status s = check_cancelled(); !s) return s;
      if (Status s = make_entry(entry); !s) return s;
    }
    return Done{};
  }

 private:
  bool has_name(std::uint32_t file) const {
    return content::is_chosen(chosen_, file) || content::bytes_in(info_, file, wanted_) > 0;
  }

  std::string place(const std::string& path) const { return folder_ + "/" + path; }

  Status check_cancelled() const {
    if (!cancelled_ || !cancelled_()) return Done{};
    return Error{ErrorCode::kCancelled, "make the names of " + info_.name, "stopped"};
  }

  Status make_parents(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return Done{};
    const std::string_view parent = path.substr(0, slash);
    if (!parents_.insert(parent).second) return Done{};
    if (Status s = make_parents(parent); !s) return s;
    if (Status s = check_cancelled(); !s) return s;
    return make_folder(std::string(parent), folder_mode(info_, parent));
  }

  Status make_entry(const FileEntry& entry) {
    if (entry.kind == FileEntry::Kind::kFolder) return make_folder(entry.path, folder_mode(entry));
    const Status made = entry.kind == FileEntry::Kind::kLink
                            ? files_.make_link(place(entry.path), entry.target)
                            : make_file(entry.path);
    return !made && made.error().code == ErrorCode::kExists ? taken(entry.path) : made;
  }

  Status make_folder(const std::string& path, std::uint32_t mode) {
    const Result<bool> made = files_.make_folder(place(path), mode);
    if (made ? !*made : made.error().code == ErrorCode::kExists) return taken(path);
    return made ? Status(Done{}) : made.error();
  }

  Status make_file(const std::string& path) {
    const auto made = files_.open(place(path), Files::Open::kMake);
    return made ? Status(Done{}) : made.error();
  }

  Status taken(const std::string& path) const {
    return Error{ErrorCode::kExists, "make the names of " + info_.name,
                 other_name_of(path) + " and " + path +
                     " are one name on this file system, so not both can be there; choose a folder "
                     "on another file system (-o)"};
  }

  // The one that was made first. Such names differ in their last component alone, as their parents
  // were made.
  std::string other_name_of(const std::string& path) const {
    const Result<FileStat> wanted = files_.stat(place(path));
    const std::string parent = parent_of(path);
    std::string last;
    for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
      const FileEntry& entry = info_.files[file];
      if (!has_name(file)) continue;
      if (!parent.empty() && !entry.path.starts_with(parent + "/")) continue;
      const std::size_t begin = parent.empty() ? 0 : parent.size() + 1;
      std::string name = entry.path.substr(0, entry.path.find('/', begin));
      if (name == path || name == last) continue;
      const Result<FileStat> there = files_.stat(place(name));
      if (wanted && there && there->inode == wanted->inode) return name;
      last = std::move(name);
    }
    return "another name";
  }

  Files& files_;
  const Info& info_;
  const std::string folder_;
  const std::vector<bool>& chosen_;
  const std::vector<bool> wanted_;  // per generation
  const std::function<bool()>& cancelled_;
  std::unordered_set<std::string_view> parents_;  // of info_
};

}  // namespace

Status make_names(Files& files, const Info& info, const std::string& folder,
                  const std::vector<bool>& chosen, const std::function<bool()>& cancelled) {
  if (info.single_file) return Done{};
  const Result<FileStat> there = files.stat(folder);
  if (!there) return there.error();
  const std::string fresh = folder + ".new";
  if (Status s = remove_tree(files, fresh, cancelled); !s) return s;
  Status made = Names(files, info, fresh, chosen, cancelled).make();
  if (made && there->kind == FileKind::kMissing && content::all_chosen(chosen))
    return files.rename(fresh, folder, true);
  if (!made && made.error().code == ErrorCode::kCancelled) return made;
  Status gone = remove_tree(files, fresh, cancelled);
  return made ? gone : made;
}

}  // namespace firn::store
