#include "client/store/name_claim.h"

#include "client/store/work_folder.h"

namespace firn::store {
namespace {

std::string names_folder() {
  return std::string(WorkFolder::kParent) + "/names";
}

// One that gives a name up removes the folder, perhaps between these two calls.
Result<std::unique_ptr<Lock>> lock_in(Files& files, const std::string& folder) {
  for (int tries = 1;; ++tries) {
    if (Status s = make_folders(files, folder); !s) return s.error();
    Result<std::unique_ptr<Lock>> lock = files.lock(folder + "/lock");
    if (lock || lock.error().code != ErrorCode::kNotFound || tries == 3) return lock;
  }
}

}  // namespace

NameClaim::NameClaim(Files& files, const std::string& name)
    : files_(files), folder_(names_folder() + "/" + name) {}

Result<std::unique_ptr<NameClaim>> NameClaim::take(Files& files, const std::string& name) {
  std::unique_ptr<NameClaim> claim(new NameClaim(files, name));
  Result<std::unique_ptr<Lock>> lock = lock_in(files, claim->folder_);
  if (!lock) return lock.error();
  if (*lock == nullptr) {
    return Error{ErrorCode::kExists, "download to " + files.full_path(name),
                 "another firn is downloading something of that name there; choose another folder "
                 "(-o) or another name (--as)"};
  }
  claim->lock_ = *std::move(lock);
  return claim;
}

void NameClaim::clear(Files& files, const std::string& name) {
  const Result<FileStat> left = files.stat(names_folder() + "/" + name + "/lock");
  if (left && left->kind != FileKind::kMissing) (void)take(files, name).ok();
}

NameClaim::~NameClaim() {
  if (lock_ == nullptr) return;
  (void)files_.remove(folder_ + "/lock").ok();
  lock_.reset();
  for (const std::string& each : {folder_, names_folder(), std::string(WorkFolder::kParent)})
    (void)files_.remove_folder(each).ok();
}

}  // namespace firn::store
