#include "client/app/origin/origin_download.h"

#include <sys/stat.h>

#include <charconv>
#include <utility>
#include <vector>

#include "client/store/ownership.h"
#include "client/store/work_folder.h"
#include "proto/base/digest.h"

namespace firn::app {
namespace {

using store::FileKind;
using store::FileStat;
using store::WorkFolder;

constexpr std::uint64_t kStateBytesMax = 256 << 10;
// What the umask leaves. It is read by setting it, so before there is another thread that makes
// files.
const std::uint32_t kFileMode = [] {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return std::uint32_t{0666} & ~std::uint32_t{mask};
}();

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string work_folder_of(const std::string& url, const std::string& name) {
  return std::string(WorkFolder::kParent) + "/url-" + sha256(bytes_of(url + "\n" + name)).text();
}

std::string taken_line(std::string& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line = text.substr(0, end);
  text.erase(0, end + 1);
  return line;
}

}  // namespace

OriginDownload::OriginDownload(std::unique_ptr<store::Files> files, const OriginUrl& url,
                               std::string name, bool overwrite)
    : files_(std::move(files)),
      name_(std::move(name)),
      overwrite_(overwrite),
      url_(url.has_secrets() ? url.shown() : url.text()),
      work_(work_folder_of(url_, name_)) {}

Result<std::unique_ptr<OriginDownload>> OriginDownload::open(std::unique_ptr<store::Files> files,
                                                             const OriginUrl& url,
                                                             const std::string& name,
                                                             bool overwrite) {
  std::unique_ptr<OriginDownload> download(
      new OriginDownload(std::move(files), url, name, overwrite));
  if (Status free = download->check_name(); !free) return free.error();
  if (Status taken = download->take(); !taken) return taken.error();
  download->read_state();
  return download;
}

OriginDownload::~OriginDownload() {
  if (lock_ != nullptr && bytes_ == 0) (void)remove().ok();
}

Status OriginDownload::check_name() const {
  const Result<FileStat> there = files_->stat(name_);
  if (!there) return there.error();
  if (there->kind == FileKind::kMissing) return Done{};
  const bool replaceable = there->kind == FileKind::kFile;
  if (replaceable && overwrite_) return Done{};
  return Error{ErrorCode::kExists, "download to " + files_->full_path(name_),
               "something has that name already, and stays as it is; choose another name (--as) or "
               "another folder (-o)" +
                   std::string(replaceable ? ", or replace it (--overwrite)" : "")};
}

Status OriginDownload::take() {
  if (Status s = store::take_own_folder(*files_, WorkFolder::kParent); !s) return s;
  auto claim = store::NameClaim::take(*files_, name_);
  if (!claim) return claim.error();
  claim_ = *std::move(claim);
  if (Status s = store::take_own_folder(*files_, work_); !s) return s;
  auto lock = files_->lock(work_ + "/lock");
  if (!lock) return lock.error();
  if (*lock == nullptr)
    return Error{ErrorCode::kExists, "lock " + files_->full_path(work_),
                 "another firn is downloading this file into " + files_->full_path("")};
  lock_ = *std::move(lock);
  return Done{};
}

// What cannot be read is of no use.
void OriginDownload::read_state() {
  const auto read = store::read_whole_file(*files_, state_path(), kStateBytesMax);
  const auto part = files_->stat(part_path());
  if (!read || !part || part->kind != FileKind::kFile) return;
  std::string text(read->begin(), read->end());
  const std::string digits = taken_line(text);
  std::uint64_t size = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (fault != std::errc() || end != digits.data() + digits.size() || part->bytes > size) return;
  state_.bytes = size;
  state_.validator = taken_line(text);
  state_.last_modified = taken_line(text);
  if (state_.can_go_on()) bytes_ = part->bytes;
}

Status OriginDownload::check_room() const {
  if (!state_.bytes) return Done{};
  if (Status holds = part_->check_size(*state_.bytes); !holds) return holds;
  const std::uint64_t wanted = *state_.bytes - bytes_;
  const auto free = files_->free_bytes("");
  if (!free || *free >= wanted) return Done{};
  return Error{ErrorCode::kDiskFull, "download to " + files_->full_path(""),
               std::to_string((wanted >> 20) + 1) + " MiB are needed, and " +
                   std::to_string(*free >> 20) + " MiB are free"};
}

Status OriginDownload::begin(const OriginFileState& state) {
  bytes_ = 0;
  part_.reset();
  // At any kill either no bytes are there, or those of the state that is.
  for (const std::string& path : {part_path(), state_path()})
    if (Status s = files_->remove(path); !s) return s;
  state_ = state;
  if (state_.can_go_on()) {
    const std::string text = std::to_string(*state_.bytes) + "\n" + state_.validator + "\n" +
                             state_.last_modified + "\n" + url_ + "\n";
    if (Status s = store::write_whole_file(*files_, state_path(), bytes_of(text)); !s) return s;
  }
  return go_on();
}

Status OriginDownload::go_on() {
  auto part = files_->open(part_path(), store::Files::Open::kCreate);
  if (!part) return part.error();
  part_ = *std::move(part);
  return check_room();
}

Status OriginDownload::append(std::span<const std::uint8_t> bytes) {
  if (Status written = part_->write_at(bytes_, bytes); !written) return written;
  bytes_ += bytes.size();
  return Done{};
}

Result<std::size_t> OriginDownload::read_at(std::uint64_t offset,
                                            std::span<std::uint8_t> out) const {
  return part_->read_at(offset, out);
}

Status OriginDownload::finish() {
  const auto stat = part_->stat();
  if (!stat) return stat.error();
  const std::int64_t modified_ns = state_.modified_ns();
  const auto set =
      part_->set_attributes(kFileMode, modified_ns != 0 ? modified_ns : stat->modified_ns);
  if (!set) return set.error();
  if (Status s = part_->sync(); !s) return s;
  if (Status s = files_->rename(part_path(), name_, overwrite_); !s) {
    Error error = s.error();
    if (error.code == ErrorCode::kExists) {
      if (const Status free = check_name(); !free) error = free.error();
      error.detail += "; all has come, and the same command needs only the name";
    }
    return error;
  }
  if (Status s = files_->sync_folder(""); !s) return s;
  return remove();
}

// The lock goes last.
Status OriginDownload::remove() {
  part_.reset();
  for (const char* name : {"/part", "/state", "/state.new", "/lock"})
    if (Status s = files_->remove(work_ + name); !s) return s;
  lock_.reset();
  const auto removed = files_->remove_folder(work_);
  if (!removed) return removed.error();
  claim_.reset();
  return Done{};
}

}  // namespace firn::app
