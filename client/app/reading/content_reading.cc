#include "client/app/reading/content_reading.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/content/division.h"
#include "client/content/reading_window.h"
#include "proto/base/within_memory.h"

namespace firn::app {
namespace {

// A generation is read and verified as a whole, and then as much of it kept.
constexpr std::uint64_t kSliceBytesMax = 1 << 20;

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
    content_->look_at_urgent();
  }

  std::uint64_t bytes() const override { return bytes_; }
  Result<std::size_t> read(std::uint64_t offset, std::span<std::uint8_t> out) override;

 private:
  friend ContentReading;
  using Store = std::shared_ptr<store::ContentStore>;

  Result<Store> store_for(std::uint64_t offset);
  Status load_slice(const store::ContentStore& store, std::uint64_t offset);

  const std::size_t index_;
  const std::uint64_t begin_;  // position in the content
  const std::uint64_t bytes_;
  const std::shared_ptr<ContentReading> content_;

  // With the content's mutex.
  const std::function<void()> ready_;
  content::ReadingWindow window_;
  std::optional<std::uint32_t> awaited_;  // a generation

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
  look_at_urgent();
  return std::unique_ptr<ReadableFile>(std::move(opened));
}

Result<std::size_t> ContentReading::File::read(std::uint64_t offset, std::span<std::uint8_t> out) {
  FIRN_CHECK(!out.empty());
  return within_memory("read a file of a content", [&]() -> Result<std::size_t> {
    auto store = store_for(offset);
    if (!store.ok()) return store.error();
    if (!*store) return 0;
    if (offset < slice_begin_ || offset - slice_begin_ >= slice_.size())
      if (const Status loaded = load_slice(**store, offset); !loaded.ok()) return loaded.error();
    const std::uint64_t skipped = offset - slice_begin_;
    const std::size_t bytes = std::min<std::uint64_t>(slice_.size() - skipped, out.size());
    std::copy_n(slice_.begin() + static_cast<std::ptrdiff_t>(skipped), bytes, out.begin());

    const std::lock_guard lock(content_->mutex_);
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
    if (content_->verified_[*awaited_]) {
      awaited_.reset();
      return content_->store_;
    }
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
  std::vector<std::uint8_t> data(shape.padded_bytes(generation));
  slice_.clear();
  if (Status read = store.read_generation(generation, data); !read.ok()) return read;
  const std::uint64_t bytes =
      std::min({shape.bytes_in_generation(generation) - skipped, bytes_ - offset, kSliceBytesMax});
  slice_.assign(data.begin() + static_cast<std::ptrdiff_t>(skipped),
                data.begin() + static_cast<std::ptrdiff_t>(skipped + bytes));
  slice_begin_ = offset;
  return Done{};
}

std::uint32_t ContentReading::generation_at(std::uint64_t position) const {
  return static_cast<std::uint32_t>(position / store_->manifest().info.shape.generation_bytes());
}

void ContentReading::look_at_urgent() {
  if (!store_) return;
  std::vector<content::UrgentGeneration> of_all;
  for (const File* file : files_) {
    if (!may_read(file->index_).ok()) continue;
    const auto urgent = file->window_.urgent(verified_);
    of_all.insert(of_all.end(), urgent.begin(), urgent.end());
  }
  std::vector<std::uint32_t> urgent;
  for (const auto& each : content::soonest_first(std::move(of_all)))
    urgent.push_back(each.generation);
  if (urgent == urgent_) return;
  urgent_ = std::move(urgent);
  if (std::exchange(urgent_taken_, false)) changed_();
}

// --- main thread ---

void ContentReading::verified(std::uint32_t generation) {
  const std::lock_guard lock(mutex_);
  verified_[generation] = true;
  call_ready([&](const File& file) { return file.awaited_ == generation; });
  look_at_urgent();
}

void ContentReading::lost(std::uint32_t generation) {
  const std::lock_guard lock(mutex_);
  verified_[generation] = false;
  look_at_urgent();
}

void ContentReading::choose(std::vector<bool> chosen) {
  const std::lock_guard lock(mutex_);
  chosen_ = std::move(chosen);
  call_ready([](const File& file) { return file.awaited_.has_value(); });
  look_at_urgent();
}

std::optional<std::vector<std::uint32_t>> ContentReading::take_urgent() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(urgent_taken_, true)) return std::nullopt;
  return urgent_;
}

void ContentReading::end() {
  std::shared_ptr<store::ContentStore> closed;  // let go of without the mutex
  const std::lock_guard lock(mutex_);
  closed = std::exchange(store_, nullptr);
  call_ready([](const File& file) { return file.awaited_.has_value(); });
}

void ContentReading::call_ready(const std::function<bool(const File&)>& concerned) {
  for (File* file : files_)
    if (concerned(*file)) file->ready_();
}

}  // namespace firn::app
