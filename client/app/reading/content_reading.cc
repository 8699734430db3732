#include "client/app/reading/content_reading.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "client/content/division.h"
#include "client/content/reading_window.h"
#include "proto/base/within_memory.h"
#include "proto/messages.h"

namespace firn::app {
namespace {

// As much of a generation is a reader's own.
constexpr std::uint64_t kSliceBytesMax = 1 << 20;

static_assert(content::kUrgentMax == core::kUrgentMax);

std::int64_t now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

class ContentReading::File final : public ReadableFile {
 public:
  File(std::shared_ptr<ContentReading> content, std::size_t index, std::function<void()> ready)
      : index_(index),
        begin_(content->store_->manifest().info.files[index].offset),
        bytes_(content->store_->manifest().info.files[index].bytes),
        content_(std::move(content)),
        ready_(std::move(ready)),
        window_(content_->store_->manifest().info, static_cast<std::uint32_t>(index)) {}

  ~File() override {
    const std::lock_guard lock(content_->mutex_);
    std::erase(content_->files_, this);
    if (content_->files_.empty()) content_->last_read_.reset();
    content_->look_at_urgent();
  }

  std::uint64_t bytes() const override { return bytes_; }
  Result<std::size_t> read(std::uint64_t offset, std::span<std::uint8_t> out) override;

 private:
  friend ContentReading;
  using Store = std::shared_ptr<store::ContentStore>;

  Result<Store> store_for(std::uint64_t offset);
  Status load_slice(const store::ContentStore& store, std::uint64_t offset);
  Result<std::shared_ptr<const Generation>> load(const store::ContentStore& store,
                                                 std::uint32_t number);
  Result<std::size_t> failed(std::uint64_t offset, const Error& error);

  const std::size_t index_;
  const std::uint64_t begin_;  // position in the content
  const std::uint64_t bytes_;
  const std::shared_ptr<ContentReading> content_;

  // With the content's mutex.
  const std::function<void()> ready_;
  content::ReadingWindow window_;
  // The generation that is being read or waited for, unless there has been news of it since.
  std::optional<std::uint32_t> awaited_;

  // The reader's.
  std::vector<std::uint8_t> slice_;  // verified
  std::uint64_t slice_begin_ = 0;    // in the file
};

// --- any thread ---

ContentReading::ContentReading(std::shared_ptr<store::ContentStore> store,
                               std::vector<bool> verified, std::vector<bool> chosen,
                               std::function<void()> changed)
    : store_(std::move(store)),
      verified_(std::move(verified)),
      left_(verified_.size()),
      chosen_(std::move(chosen)),
      changed_(std::move(changed)) {}

std::shared_ptr<const Manifest> ContentReading::manifest() const {
  const std::lock_guard lock(mutex_);
  return store_ ? std::shared_ptr<const Manifest>(store_, &store_->manifest()) : nullptr;
}

bool ContentReading::chosen(std::size_t file) const {
  const std::lock_guard lock(mutex_);
  return may_read(file).ok();
}

Status ContentReading::may_read(std::size_t file) const {
  if (!store_) return Error{ErrorCode::kCancelled, "read", "the content was stopped or has ended"};
  const std::vector<FileEntry>& files = store_->manifest().info.files;
  if (file >= files.size() || files[file].kind != FileEntry::Kind::kFile)
    return Error{ErrorCode::kNotFound, "read", "there is no such file"};
  if (!content::is_chosen(chosen_, static_cast<std::uint32_t>(file)))
    return Error{ErrorCode::kNotFound, "read " + files[file].path, "it is not chosen"};
  return Done{};
}

Result<std::unique_ptr<ReadableFile>> ContentReading::open(std::size_t file,
                                                           std::function<void()> ready) {
  const std::lock_guard lock(mutex_);
  if (const Status may = may_read(file); !may.ok()) return may.error();
  auto opened = std::make_unique<File>(shared_from_this(), file, std::move(ready));
  files_.push_back(opened.get());
  return std::unique_ptr<ReadableFile>(std::move(opened));
}

Result<std::size_t> ContentReading::File::read(std::uint64_t offset, std::span<std::uint8_t> out) {
  FIRN_CHECK(!out.empty());
  return within_memory("read a file of a content", [&]() -> Result<std::size_t> {
    auto store = store_for(offset);
    if (!store.ok()) return store.error();
    if (!*store) return 0;
    if (offset < slice_begin_ || offset - slice_begin_ >= slice_.size())
      if (const Status loaded = load_slice(**store, offset); !loaded.ok())
        return failed(offset, loaded.error());
    const std::uint64_t skipped = offset - slice_begin_;
    const std::size_t bytes = std::min<std::uint64_t>(slice_.size() - skipped, out.size());
    std::copy_n(slice_.begin() + static_cast<std::ptrdiff_t>(skipped), bytes, out.begin());

    const std::lock_guard lock(content_->mutex_);
    awaited_.reset();
    window_.took(offset, bytes, now_us());
    content_->look_at_urgent();
    return bytes;
  });
}

// The store, to read what lies at `offset` of the file; null: that has not come, or is the end.
Result<ContentReading::File::Store> ContentReading::File::store_for(std::uint64_t offset) {
  const std::lock_guard lock(content_->mutex_);
  awaited_.reset();
  if (const Status may = content_->may_read(index_); !may.ok()) return may.error();
  if (offset < bytes_) {
    awaited_ = content_->generation_at(begin_ + offset);
    if (content_->verified_[*awaited_]) return content_->store_;
  }
  window_.took(offset, 0, now_us());
  content_->look_at_urgent();
  return Store();
}

Status ContentReading::File::load_slice(const store::ContentStore& store, std::uint64_t offset) {
  const Shape& shape = store.manifest().info.shape;
  const std::uint64_t at = begin_ + offset;
  const auto generation = static_cast<std::uint32_t>(at / shape.generation_bytes());
  const std::uint64_t skipped = at % shape.generation_bytes();
  slice_.clear();
  const auto loaded = load(store, generation);
  if (!loaded.ok()) return loaded.error();
  const std::vector<std::uint8_t>& data = (*loaded)->data;
  const std::uint64_t bytes =
      std::min({shape.bytes_in_generation(generation) - skipped, bytes_ - offset, kSliceBytesMax});
  slice_.assign(data.begin() + static_cast<std::ptrdiff_t>(skipped),
                data.begin() + static_cast<std::ptrdiff_t>(skipped + bytes));
  slice_begin_ = offset;
  return Done{};
}

Result<std::shared_ptr<const ContentReading::Generation>> ContentReading::File::load(
    const store::ContentStore& store, std::uint32_t number) {
  {
    const std::lock_guard lock(content_->mutex_);
    const auto& last = content_->last_read_;
    if (last && last->number == number) return last;
    content_->last_read_.reset();  // room for the next
  }
  auto loaded = std::make_shared<Generation>();
  loaded->number = number;
  loaded->data.resize(store.manifest().info.shape.padded_bytes(number));
  if (Status read = store.read_generation(number, loaded->data); !read.ok()) return read.error();
  const std::lock_guard lock(content_->mutex_);
  content_->last_read_ = loaded;
  return std::shared_ptr<const Generation>(std::move(loaded));
}

// A generation that the store has lost, or is to lose now, may come once more.
Result<std::size_t> ContentReading::File::failed(std::uint64_t offset, const Error& error) {
  const std::lock_guard lock(content_->mutex_);
  if (const Status may = content_->may_read(index_); !may.ok()) return may.error();
  const std::uint32_t generation = content_->generation_at(begin_ + offset);
  const bool lost = error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kNotFound;
  if (!lost || content_->left_[generation]) return error;
  if (!awaited_) return 0;  // ready() was called for the news
  if (content_->verified_[generation]) {
    content_->unreadable_.emplace(generation, error);
    content_->verified_[generation] = false;
    content_->changed_();
  }
  window_.took(offset, 0, now_us());
  content_->look_at_urgent();
  return 0;
}

std::uint32_t ContentReading::generation_at(std::uint64_t position) const {
  return static_cast<std::uint32_t>(position / store_->manifest().info.shape.generation_bytes());
}

core::Urgent ContentReading::urgent_of_all() const {
  std::vector<std::vector<content::UrgentGeneration>> readers;
  for (const File* file : files_)
    if (may_read(file->index_).ok()) readers.push_back(file->window_.urgent(verified_));
  core::Urgent urgent;
  for (const auto& each : content::in_turn(readers))
    urgent[each.generation] = each.awaited ? proto::kAwaited : proto::kReadSoon;
  return urgent;
}

void ContentReading::look_at_urgent() {
  if (!store_) return;
  core::Urgent urgent;
  try {
    urgent = urgent_of_all();
  } catch (const std::bad_alloc&) {
    return;  // what was urgent stays so until the next look
  }
  if (urgent == urgent_) return;
  urgent_ = std::move(urgent);
  if (std::exchange(urgent_taken_, false)) changed_();
}

// --- main thread ---

void ContentReading::verified(std::uint32_t generation) {
  const std::lock_guard lock(mutex_);
  verified_[generation] = true;
  left_[generation] = false;
  call_ready([&](const File& file) { return file.awaited_ == generation; });
  look_at_urgent();
}

void ContentReading::lost(std::uint32_t generation, bool fetch_again) {
  const std::lock_guard lock(mutex_);
  unreadable_.erase(generation);
  if (!fetch_again) left_[generation] = true;
  verified_[generation] = left_[generation];
  if (left_[generation]) call_ready([&](const File& file) { return file.awaited_ == generation; });
  look_at_urgent();
}

void ContentReading::choose(std::vector<bool> chosen) {
  const std::lock_guard lock(mutex_);
  chosen_ = std::move(chosen);
  call_ready([](const File& file) { return file.awaited_.has_value(); });
  look_at_urgent();
}

std::optional<core::Urgent> ContentReading::take_urgent() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(urgent_taken_, true)) return std::nullopt;
  return urgent_;
}

std::map<std::uint32_t, Error> ContentReading::take_unreadable() {
  const std::lock_guard lock(mutex_);
  return std::exchange(unreadable_, {});
}

void ContentReading::fetch_no_more() {
  const std::lock_guard lock(mutex_);
  left_.assign(left_.size(), true);
  verified_ = left_;
  call_ready([](const File& file) { return file.awaited_.has_value(); });
}

void ContentReading::end() {
  std::shared_ptr<store::ContentStore> closed;  // let go of without the mutex
  const std::lock_guard lock(mutex_);
  closed = std::exchange(store_, nullptr);
  call_ready([](const File& file) { return file.awaited_.has_value(); });
}

void ContentReading::call_ready(const std::function<bool(const File&)>& concerned) {
  for (File* file : files_) {
    if (!concerned(*file)) continue;
    file->awaited_.reset();
    file->ready_();
  }
}

}  // namespace firn::app
