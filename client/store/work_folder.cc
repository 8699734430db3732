#include "client/store/work_folder.h"

#include <algorithm>

#include "client/content/division.h"
#include "client/store/ownership.h"
#include "client/store/work_mark.h"
#include "proto/base/limits.h"

namespace firn::store {

std::vector<std::uint32_t> indices_of(const std::vector<bool>& flags) {
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) indices.push_back(i);
  }
  return indices;
}

std::string WorkFolder::path_of(const ContentId& content) {
  return std::string(kParent) + "/" + content.text();
}

std::string WorkFolder::manifest_path_of(const ContentId& content) {
  return path_of(content) + "/manifest.firn";
}

std::string WorkFolder::top_name_path_of(const ContentId& content) {
  return path_of(content) + "/name";
}

Status WorkFolder::keep_top_name(Files& files, const ContentId& content, const Info& info,
                                 const std::string& name) {
  const std::string path = top_name_path_of(content);
  if (name == info.name) return files.remove(path);
  return write_whole_file(files, path,
                          {reinterpret_cast<const std::uint8_t*>(name.data()), name.size()});
}

Result<std::string> WorkFolder::top_name() const {
  Result<std::vector<std::uint8_t>> name =
      read_whole_file(files_, top_name_path_of(manifest_.id), limits::kPathComponentBytesMax);
  if (name) return std::string(name->begin(), name->end());
  if (name.error().code == ErrorCode::kNotFound) return manifest_.info.name;
  return name.error();
}

std::string WorkFolder::media_prefix_of(const ContentId& content) {
  return std::string(kParent) + "/medium-" + content.short_text() + "-";
}

Status WorkFolder::remove_media(Files& files, const ContentId& content) {
  const Result<std::vector<std::string>> names = files.list(kParent);
  if (!names) return names.error().code == ErrorCode::kNotFound ? Status(Done{}) : names.error();
  for (const std::string& name : *names) {
    const std::string path = std::string(kParent) + "/" + name;
    if (!path.starts_with(media_prefix_of(content))) continue;
    if (Status s = files.remove(path); !s) return s;
  }
  const Result<bool> removed = files.remove_folder(kParent);
  return removed ? Status(Done{}) : removed.error();
}

WorkFolder::WorkFolder(Files& files, const Manifest& manifest)
    : files_(files), manifest_(manifest), path_(path_of(manifest.id)) {}

Result<bool> WorkFolder::exists() const {
  Result<FileStat> there = files_.stat(path_);
  if (!there) return there.error();
  return there->kind != FileKind::kMissing;
}

Status WorkFolder::take_parent() {
  if (parent_taken_) return Done{};
  if (Status s = take_own_folder(files_, kParent); !s) return s;
  parent_taken_ = true;
  return Done{};
}

Status WorkFolder::take() {
  if (lock_ != nullptr) return Done{};
  if (Status s = take_parent(); !s) return s;
  if (Status s = take_own_folder(files_, path_); !s) return s;
  if (Status s = take_lock(); !s) return s;
  Result<std::string> mark = take_work_mark(files_, path_);
  if (!mark) return mark.error();
  mark_ = *std::move(mark);
  return keep_manifest();
}

Status WorkFolder::claim_name(const std::string& name) {
  if (Status s = take_parent(); !s) return s;
  Result<std::unique_ptr<NameClaim>> claim = NameClaim::take(files_, name);
  if (!claim) return claim.error();
  name_ = *std::move(claim);
  return Done{};
}

Status WorkFolder::check_file_size(const std::vector<bool>& generations) const {
  std::uint64_t largest = 0;
  for (std::uint32_t file = 0; file < manifest_.info.files.size(); ++file) {
    if (content::bytes_in(manifest_.info, file, generations) > 0)
      largest = std::max(largest, manifest_.info.files[file].bytes);
  }
  const auto file = files_.open(manifest_path_of(manifest_.id), Files::Open::kRead);
  return file ? (*file)->check_size(largest) : Status(file.error());
}

Status WorkFolder::take_lock() {
  Result<std::unique_ptr<Lock>> lock = files_.lock(path_ + "/lock");
  if (!lock) return lock.error();
  if (*lock == nullptr) {
    return Error{ErrorCode::kExists, "lock " + files_.full_path(path_),
                 "another firn is downloading this content into " + files_.full_path("")};
  }
  lock_ = *std::move(lock);
  return Done{};
}

Status WorkFolder::keep_manifest() {
  const std::string path = manifest_path_of(manifest_.id);
  Result<std::vector<std::uint8_t>> kept = read_whole_file(files_, path, limits::kManifestBytesMax);
  const std::string& wanted = manifest_.file_bytes;
  const auto same = [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); };
  if (kept && std::equal(kept->begin(), kept->end(), wanted.begin(), wanted.end(), same)) {
    return Done{};
  }
  return write_whole_file(files_, path,
                          {reinterpret_cast<const std::uint8_t*>(wanted.data()), wanted.size()});
}

Result<bool> WorkFolder::has_journal() const {
  const Result<FileStat> there = files_.stat(path_ + "/journal");
  if (!there) return there.error();
  return there->kind != FileKind::kMissing;
}

Result<JournalContents> WorkFolder::read_journal(const std::string& known_mark) {
  Result<JournalContents> journal = store::read_journal(files_, path_ + "/journal", manifest_);
  if (!journal || known_mark == mark_) return journal;
  const Result<bool> sealed = is_sealed(files_, path_);
  if (!sealed) return sealed.error();
  if (*sealed) return journal;
  journal->recent.insert(journal->recent.end(), journal->durable.begin(), journal->durable.end());
  journal->durable.clear();
  if (Status s = files_.remove(path_ + "/spool"); !s) return s.error();
  return journal;
}

Status WorkFolder::seal() {
  return store::seal(files_, path_);
}

Status WorkFolder::begin_journal(const std::vector<bool>& verified) {
  journal_.reset();
  Result<std::unique_ptr<Journal>> fresh =
      Journal::create(files_, path_ + "/journal", manifest_, indices_of(verified));
  if (!fresh) return fresh.error();
  journal_ = *std::move(fresh);
  return files_.sync_folder(path_);
}

Status WorkFolder::open_spool(const std::vector<bool>& verified, std::vector<SpooledRow>& rows) {
  Result<std::unique_ptr<Spool>> spool =
      Spool::open(files_, path_ + "/spool", manifest_, verified, rows);
  if (!spool) return spool.error();
  spool_ = *std::move(spool);
  return Done{};
}

Status WorkFolder::remove_spool() {
  spool_.reset();
  return files_.remove(path_ + "/spool");
}

Status WorkFolder::sync_folders() {
  for (const std::string& folder : {std::string(), std::string(kParent), path_}) {
    if (Status s = files_.sync_folder(folder); !s) return s;
  }
  return Done{};
}

Status WorkFolder::discard() {
  if (Status s = remove_folder(); !s) return s;
  const Result<bool> removed = files_.remove_folder(kParent);
  return removed ? Status(Done{}) : removed.error();
}

Status WorkFolder::remove() {
  spool_->close();
  name_.reset();
  if (Status s = remove_folder(); !s) return s;
  journal_.reset();
  return remove_media(files_, manifest_.id);
}

Status WorkFolder::remove_folder() {
  for (const char* name : {"/data", "/data.new", "/copy", "/spool", "/journal", "/journal.new",
                           "/manifest.firn", "/manifest.firn.new", "/name", "/name.new", "/choice",
                           "/choice.new", "/mark", "/mark.new", "/seal", "/seal.new", "/lock"}) {
    if (Status s = remove_tree(files_, path_ + name); !s) return s;
  }
  lock_.reset();
  const Result<bool> removed = files_.remove_folder(path_);
  return removed ? Status(Done{}) : removed.error();
}

}  // namespace firn::store
