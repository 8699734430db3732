// The ContentStore on files: puts content files, journal and spool together and keeps their order,
// which is what makes kills and power cuts harmless (docs/formats.md, "The work folder").
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "client/content/division.h"
#include "client/store/content_files.h"
#include "client/store/content_store.h"
#include "client/store/files.h"
#include "client/store/journal.h"
#include "client/store/spool.h"
#include "client/store/survey.h"

namespace firn::store {

class DiskStore final : public ContentStore {
 public:
  // As ContentStore's, below the folder of `files`.
  static Result<std::unique_ptr<DiskStore>> open_download(std::unique_ptr<Files> files,
                                                          const Manifest& manifest,
                                                          const OpenOptions& options,
                                                          Resumed& resumed);
  static Result<std::unique_ptr<DiskStore>> open_complete(std::unique_ptr<Files> files,
                                                          const Manifest& manifest,
                                                          const OpenOptions& options);

  Status write_generation(std::uint32_t generation, std::span<const std::uint8_t> data) override;
  Status read_generation(std::uint32_t generation, std::span<std::uint8_t> out) const override;
  bool lose_generation(std::uint32_t generation) override;
  void regain_generation(std::uint32_t generation) override;
  std::vector<std::uint32_t> take_lost() override;
  std::string take_warning() override { return content_.take_warning(); }
  Status write_row(const SpooledRow& row, std::span<const std::uint8_t> payload) override;
  Status read_row(std::uint32_t generation, std::uint32_t slot,
                  std::span<std::uint8_t> payload_out) const override;
  Status drop_rows(std::uint32_t generation) override;
  Status sync() override;
  Result<bool> finish() override;
  const Manifest& manifest() const override { return manifest_; }

 private:
  enum class Phase {
    kDownloading,
    kFinished,  // every file has its final name, durably; the work folder may stand
    kServing,   // no work folder
  };

  DiskStore(std::unique_ptr<Files> files, const Manifest& manifest);

  // Opening (disk_store_open.cc).
  Status open_work(const OpenOptions& options, const JournalContents& known, Resumed& resumed);
  Status take_lock();
  Status keep_manifest();
  Status clear_the_way(const Survey& survey, const OpenOptions& options);
  Status check_in_the_way(const Survey& survey, const OpenOptions& options) const;
  Status vouch_for(const std::vector<bool>& verified);
  Status spool_known_blocks(const OpenOptions& options, std::vector<SpooledRow>& rows);
  Status spool_known_blocks_of(std::uint32_t generation, std::vector<SpooledRow>& rows);
  Status sync_work_folders();
  void count_files();
  void note_unsynced(const std::vector<std::uint32_t>& generations);
  bool may_replace(std::uint32_t file) const { return overwrite_ || replaceable_.contains(file); }

  // Writing (disk_store.cc). With sync_mutex_ held, but for record().
  Status record(std::uint32_t generation);
  Status sync_now();
  Status write_again();
  Status sync_data(std::uint64_t& covered, std::size_t& unmarked);
  Status free_dropped();
  bool everything_verified() const;
  Status name_files(const std::vector<std::uint32_t>& files);
  Status finish_names();
  Status remove_work();
  Error not_downloading(const char* what) const;

  // Losing (disk_store_loss.cc). With sync_mutex_ held.
  bool unverify(std::uint32_t generation);
  void verify_again(std::uint32_t generation);
  Status journal_losses();
  void reread_left();
  Error left_error() const;
  std::vector<content::FileSpan> spans_of(std::uint32_t generation) const;

  const std::unique_ptr<Files> files_;
  const Manifest manifest_;
  const Info& info_;
  const std::string work_;  // relative to files_
  ContentFiles content_;
  std::unique_ptr<Lock> lock_;
  std::unique_ptr<Journal> journal_;  // null when opened finished
  std::unique_ptr<Spool> spool_;
  bool overwrite_ = false;
  std::set<std::uint32_t> replaceable_;  // files in the way at the start that may be replaced
  std::atomic<Phase> phase_ = Phase::kDownloading;

  std::mutex sync_mutex_;       // one sync or finish at a time; taken before state_mutex_
  bool data_in_doubt_ = false;  // a sync of data failed: what it covered is written again

  mutable std::mutex state_mutex_;
  std::vector<bool> verified_;               // per generation
  std::vector<bool> durable_;                // per generation: verified and marked in the journal
  std::vector<std::uint32_t> missing_;       // per file: generations not verified
  std::vector<std::uint32_t> unnamed_;       // files on their way with nothing missing
  std::vector<std::uint32_t> unmarked_;      // generations since the last mark, as in the journal
  std::vector<std::uint32_t> drops_;         // generations whose rows go when they are durable
  std::set<std::uint32_t> left_;             // lost generations of files with final names
  std::vector<std::uint32_t> found_;         // lost in the work folder, to be told by take_lost()
  std::vector<std::uint32_t> unjournalled_;  // lost, but the journal could not be written
  bool losses_unsynced_ = false;             // the journal has a loss that is not durable
};

}  // namespace firn::store
