// The ContentStore on files: puts content files, journal and spool together and keeps their order,
// which is what makes kills and power cuts harmless (docs/formats.md, "The work folder").
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "client/store/content_files.h"
#include "client/store/content_store.h"
#include "client/store/files.h"
#include "client/store/fingerprints.h"
#include "client/store/generation_ledger.h"
#include "client/store/hash_memory.h"
#include "client/store/work_folder.h"

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

  bool verify_generation(std::uint32_t generation,
                         std::span<const std::uint8_t> data) const override;
  Status write_generation(std::uint32_t generation, std::span<const std::uint8_t> data) override;
  Status read_generation(std::uint32_t generation, std::span<std::uint8_t> out) const override;
  bool lose_generation(std::uint32_t generation) override;
  bool may_be_right_again(std::uint32_t generation) const override;
  void regain_generation(std::uint32_t generation) override;
  std::vector<std::uint32_t> take_lost() override;
  std::string take_warning() override { return content_.take_warning(); }
  Status write_row(const SpooledRow& row, std::span<const std::uint8_t> payload) override;
  Result<bool> set_proven(std::uint32_t generation, std::uint32_t slot, bool proven) override;
  Status read_row(std::uint32_t generation, std::uint32_t slot,
                  std::span<std::uint8_t> payload_out) const override;
  Status drop_rows(std::uint32_t generation) override;
  Status choose(std::vector<bool> chosen) override;
  Status sync() override;
  Result<bool> finish() override;
  std::string moved_to() const override { return moved_to_; }
  const Manifest& manifest() const override { return manifest_; }

 private:
  enum class Phase {
    kDownloading,  // also when what is chosen is finished
    kFinished,     // every file has its final name, durably; the work folder may stand
    kServing,      // no work folder
  };

  DiskStore(std::unique_ptr<Files> files, const Manifest& manifest, const OpenOptions& options);

  Status with_room(const std::function<Status()>& write);
  // With sync_mutex_ held.
  Status sync_now();
  void lose_deleted();
  void lose_file(std::uint32_t file);           // with deleted_mutex_ held too
  void lose_in_work(std::uint32_t generation);  // take_lost() tells, unless it is left alone
  Status write_again();
  Status sync_data(const GenerationLedger::Covered& covered);
  Status free_dropped();
  Status name_files(const std::vector<std::uint32_t>& files);
  Status finish_names();
  void reread_beside_finished();
  void reread_left();
  Error left_error() const;

  Status read_checked(std::uint32_t generation, std::span<std::uint8_t> out,
                      ContentFiles::Reading reading) const;
  ContentFiles::Reading next_reading(std::uint32_t generation) const;
  Status write_and_note(std::uint32_t generation, std::span<const std::uint8_t> data);
  Error changed_on_disk(std::uint32_t generation, const std::string& operation) const;
  Error not_downloading(const char* what) const;
  bool may_replace(std::uint32_t file) const { return overwrite_ || replaceable_.contains(file); }

  const std::unique_ptr<Files> files_;
  std::string moved_to_;
  const Manifest manifest_;
  const Info& info_;
  WorkFolder work_;
  ContentFiles content_;
  GenerationLedger ledger_;
  const std::function<Moment()> clock_;
  mutable HashMemory hash_memory_;
  mutable Fingerprints fingerprints_;
  bool overwrite_ = false;
  std::set<std::uint32_t> replaceable_;  // files in the way at the start that may be replaced
  mutable std::mutex reads_mutex_;
  mutable std::vector<bool> read_before_;  // by generation
  mutable std::uint64_t reads_ = 0, reads_again_ = 0;
  std::atomic<Phase> phase_ = Phase::kDownloading;

  std::mutex sync_mutex_;  // one sync or finish at a time
  // Shared by writers of generations: what goes into a deleted file is not noted after that is
  // known.
  std::shared_mutex deleted_mutex_;
  // Lost and fetched again although a chosen file of them is finished, to be read before finish().
  std::set<std::uint32_t> beside_finished_;
  bool data_in_doubt_ = false;  // a sync of data failed: what it covered is written again
  std::mutex found_mutex_;
  std::vector<std::uint32_t> found_;  // lost in the work folder, to be told by take_lost()
};

}  // namespace firn::store
