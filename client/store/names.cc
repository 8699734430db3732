#include "client/store/names.h"

#include "client/content/division.h"
#include "client/store/content_folders.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace firn::store {
namespace {

class Names {
 public:
  Names(Files& files, const Info& info, std::string folder, const std::vector<bool>& chosen,
        const std::function<bool()>& cancelled, const std::vector<bool>* known)
      : files_(files),
        info_(info),
        folder_(std::move(folder)),
        cancelled_(cancelled),
        named_(info.files.size()) {
    add_names(chosen, true);
    if (known != nullptr) add_names(*known, false);
    for (std::uint32_t file = 0; file < info.files.size(); ++file)
      if (named_[file] == Named::kNew) add_parents(info.files[file].path);
  }

  bool any_new() const { return std::ranges::count(named_, Named::kNew) > 0; }

  Status make() {
    if (Status s = make_content_folder(files_, info_, folder_, ""); !s) return s;
    for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
      if (named_[file] == Named::kNot) continue;
      const FileEntry& entry = info_.files[file];
      const std::string_view path = to_be_made(file);
      if (Status s = make_parents(path); !s) return s;
      if (Status s = check_cancelled(); !s) return s;
      if (path.size() < entry.path.size()) continue;
      if (Status s = make_entry(entry); !s) return s;
    }
    return Done{};
  }

 private:
  enum class Named : std::uint8_t { kNot, kKnown, kNew };

  // Names that a choice makes are new, and known if another choice has them too.
  void add_names(const std::vector<bool>& chosen, bool as_new) {
    const std::vector<bool> wanted = content::wanted_generations(info_, chosen);
    for (std::uint32_t file = 0; file < named_.size(); ++file) {
      if (!as_new && named_[file] == Named::kNot) continue;
      if (!content::is_chosen(chosen, file) && content::bytes_in(info_, file, wanted) == 0)
        continue;
      named_[file] = as_new ? Named::kNew : Named::kKnown;
    }
  }

  void add_parents(std::string_view path) {
    for (std::size_t end = path.rfind('/'); end != std::string_view::npos; end = path.rfind('/')) {
      path = path.substr(0, end);
      if (!above_new_.insert(path).second) return;
    }
  }

  // All of a new path. Of a known one as much as may be one with a component of a new path.
  std::string_view to_be_made(std::uint32_t file) const {
    const std::string_view path = info_.files[file].path;
    if (named_[file] == Named::kNew) return path;
    std::size_t end = path.find('/');
    while (end != std::string_view::npos && above_new_.contains(path.substr(0, end)))
      end = path.find('/', end + 1);
    return end == std::string_view::npos ? path : path.substr(0, end + 1);
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
      if (named_[file] == Named::kNot) continue;
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
  const std::function<bool()>& cancelled_;
  std::vector<Named> named_;  // per file
  // Folders of info_.
  std::unordered_set<std::string_view> above_new_;
  std::unordered_set<std::string_view> parents_;  // that are made
};

}  // namespace

Status make_names(Files& files, const Info& info, const std::string& folder,
                  const std::vector<bool>& chosen, const std::function<bool()>& cancelled,
                  const std::vector<bool>* known) {
  if (info.single_file) return Done{};
  const std::string fresh = folder + ".new";
  Names names(files, info, fresh, chosen, cancelled, known);
  if (known != nullptr && !names.any_new()) return Done{};
  const Result<FileStat> there = files.stat(folder);
  if (!there) return there.error();
  if (Status s = remove_tree(files, fresh, cancelled); !s) return s;
  Status made = names.make();
  if (made && there->kind == FileKind::kMissing && content::all_chosen(chosen))
    return files.rename(fresh, folder, true);
  if (!made && made.error().code == ErrorCode::kCancelled) return made;
  Status gone = remove_tree(files, fresh, cancelled);
  return made ? gone : made;
}

}  // namespace firn::store
