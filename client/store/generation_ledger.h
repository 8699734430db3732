// Which generations of a content are verified, durable or lost, and what follows for its files:
// which are complete and wait for their final names. Keeps the journal in step with what it knows.
//
// A generation that was verified may turn out to be changed or gone. What lies in the work folder
// is ours and is written again. A file with its final name is the user's, who may have edited it or
// moved it away: nothing is written into it, whatever it holds; such a generation is *left*.
//
// Files that are not chosen get no final name, and generations that hold none of a chosen file's
// bytes need not be verified. Those that are count all the same.
//
// Any thread, also at once. lose(), regain() and what concerns syncs: one thread at a time, and no
// file may get its final name meanwhile.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "client/store/content_files.h"
#include "client/store/journal.h"

namespace firn::store {

class GenerationLedger {
 public:
  // Both are kept by reference.
  GenerationLedger(const Info& info, ContentFiles& content) : info_(info), content_(content) {}

  // For a content that is only served: no journal, nothing is written.
  void serve(std::vector<bool> verified);
  // For a download; `journal` says already that these are verified, and is kept by reference.
  void download(std::vector<bool> verified, Journal& journal, std::vector<bool> chosen);
  // Another choice of files. No sync meanwhile.
  void choose(std::vector<bool> chosen);
  // Every file has its final name: the journal is done with.
  void finish();

  bool left(std::uint32_t generation) const;
  // Whether its bytes can be expected on the disk: verified, or left and perhaps right again.
  bool readable(std::uint32_t generation) const;
  bool all_chosen() const;
  bool chosen(std::uint32_t file) const;
  std::vector<bool> choice() const;  // per file; empty: all
  // All wanted generations but those that are left.
  bool everything_wanted_verified() const;
  // It is chosen and no generation of it is missing, so it may have its final name.
  bool to_be_named(std::uint32_t file) const;

  // Its data is in its files, noted there as unsynced: the order that a sync relies on.
  Status written(std::uint32_t generation);
  // It is verified no more. True if it may be written again: all of it lies in the work folder, or
  // a file was deleted there.
  bool lose(std::uint32_t generation);
  // One that was left is right after all. The journal goes on calling it lost: a later run then
  // hashes its finished files once more.
  void regain(std::uint32_t generation);
  std::set<std::uint32_t> wanted_left() const;

  // --- a sync, in this order ---
  // Writes losses that the journal did not take, and fails if it still does not.
  Status journal_losses();
  // Generations written since the last mark.
  std::vector<std::uint32_t> unmarked() const;
  // What a sync of data that begins now will cover.
  struct Covered {
    std::uint64_t records = 0;         // of the journal
    std::size_t generations = 0;       // of those unmarked, the first
    std::vector<std::uint32_t> files;  // for final names; the caller's from now on
  };
  Covered begin_sync();
  // The data is durable: says so in the journal, and makes that durable.
  Status mark(const Covered& covered);
  // Files that did not get their names: for the next sync.
  void give_back(const std::vector<std::uint32_t>& files);

  // --- rows of generations that are verified ---
  // True if they must be kept until the generation is durable; take_droppable() tells then.
  bool keep_rows(std::uint32_t generation);
  std::vector<std::uint32_t> take_droppable();
  // Whether there are any, durable or not.
  bool keeps_rows() const;
  // Those that could not be dropped, for the next time.
  void give_back_droppable(std::span<const std::uint32_t> generations);

 private:
  bool ready(std::uint32_t file) const;       // to_be_named(), with mutex_ held
  void set_choice(std::vector<bool> chosen);  // with mutex_ held
  void count_down(std::uint32_t generation);  // files of it that lack one less; with mutex_ held

  const Info& info_;
  ContentFiles& content_;

  mutable std::mutex mutex_;
  Journal* journal_ = nullptr;               // null: no download, or no more
  std::vector<bool> chosen_;                 // per file; empty: all
  std::vector<bool> wanted_;                 // per generation
  std::vector<bool> verified_;               // per generation
  std::vector<bool> durable_;                // per generation: verified and marked in the journal
  std::vector<std::uint32_t> missing_;       // per file: generations not verified
  std::vector<std::uint32_t> unnamed_;       // files on their way that are to be named
  std::vector<std::uint32_t> unmarked_;      // generations since the last mark, as in the journal
  std::vector<std::uint32_t> drops_;         // generations whose rows go when they are durable
  std::set<std::uint32_t> left_;             // lost generations of files with final names
  std::vector<std::uint32_t> unjournalled_;  // lost, but the journal could not be written
  bool losses_unsynced_ = false;             // the journal has a loss that is not durable
};

}  // namespace firn::store
