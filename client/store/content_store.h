// Where one content lives on disk: verified generations in their files, unfinished ones in a spool.
//
//   DIR/.firn/<content id>/manifest.firn   the manifest
//                          lock            held (flock) by the process that downloads
//                          journal         which generations are verified (docs/formats.md)
//                          choice          which files are chosen, if not all (kept_choice.h)
//                          spool           fixed slots of coded blocks of unfinished generations
//                          data/<path>     files on their way
//   DIR/<top name>...                      files, only when chosen, complete and verified
//
// A generation is *wanted* if it holds bytes of a chosen file (content/division.h). What it holds
// of other files stays in the work folder, so that it can be read and served.
//
// A kill at any moment loses at most what had not reached the disk and never corrupts: journal
// records and slots carry CRC32C, a torn one is a missing one. A power cut too: what the journal
// says after its last durable mark is hashed again on opening.
//
// All members block on the disk and may be called from any thread, also at once, except that
// writing and reading one generation, or dropping and using its slots, must not overlap.
// Errors: kDiskFull, kReadOnly, kNotFound (folder vanished), kIo, kCorrupt; the state on disk stays
// valid after each, and the call may be repeated.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/store/fingerprints.h"
#include "client/store/hash_memory.h"
#include "proto/content/manifest.h"

namespace firn::store {

// What is known of a row besides its bytes: whether its sender answers for it, and whether it has
// been shown to be true.
enum class Standing : std::uint8_t { kNotKnown, kAnswered, kProven };

// A coded block kept in the spool. The payload stays on disk (read_row).
struct SpooledRow {
  std::uint32_t generation = 0;
  std::uint32_t slot = 0;            // 0..n-1, free choice of the caller
  std::vector<std::uint8_t> vector;  // a coefficient for each block of its generation
  PeerId sender;
  Standing standing = Standing::kNotKnown;
};

struct OpenOptions {
  std::string as = {};     // the top name below `dir` (content/top_name.h); empty: the manifest's
  bool overwrite = false;  // replace files at the final paths that are not this content
  bool repair = false;  // bring such files to what they should be, keeping what is right in them;
                        // with either the content goes into a folder that stood there before
                        // and both concern chosen files alone
  // For downloading: a flag for each entry of Info::files; empty: all. What stands at the final
  // path of a file that is not chosen is read if it is right, and never touched.
  std::vector<bool> chosen = {};
  // What a download has had before has this mark (work_mark.h); empty: it has had nothing. If it is
  // not there, nothing is made, and the error is kNotFound.
  std::string mark = {};
  bool room_needed = false;  // for downloading: kDiskFull if the disk has not room for what is
                             // wanted
  bool trust = false;        // for serving: take it that the bytes are right where the sizes are
  // For serving: this process has hashed all of it since then (Unix time); 0: it has not.
  std::int64_t hashed_since_ns = 0;
  Fingerprinting fingerprinting = Fingerprinting::kWhereCheaper;
  std::function<Moment()> clock = Moment::now;                                 // another in tests
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};  // while hashing
  std::function<bool()> cancelled = {};  // polled while hashing; then kCancelled
};

// What an earlier run left.
struct Resumed {
  std::string mark;              // of the work folder (work_mark.h); empty: there is none
  std::vector<bool> verified;    // per generation
  std::vector<SpooledRow> rows;  // of generations not verified
};

class ContentStore {
 public:
  // For downloading into `dir` (made if missing), or going on with it. The content's folder is made
  // now. If its name is taken, that is kExists, which names what of the content is missing or
  // differs there, unless: that folder is empty; an earlier download made it, as the work folder
  // shows; all of the content stands there and is right, and then nothing is written; or
  // `overwrite` or `repair`. Files that are complete and right at their final paths are kept, and
  // Resumed tells what they hold; others there are kExists, unless `overwrite` or `repair`.
  // Repairing takes a file back into the work folder until it is right; what stands where a file
  // should be and is none is kExists. kExists also if another process holds the lock, and where
  // content::check_top_name() refuses the name.
  //
  // Also for serving a content of which a part was chosen and finished: with the choice that its
  // work folder keeps (kept_choice.h). Then all wanted generations are in Resumed::verified.
  static Result<std::unique_ptr<ContentStore>> open_download(const Manifest& manifest,
                                                             const std::string& dir,
                                                             const OpenOptions& options,
                                                             Resumed& resumed);

  // For serving what stands finished in `dir`. Every file must be there with its size; one whose
  // time is not the manifest's is hashed first, unless `trust`. The error names all that are
  // missing (kNotFound), short, long or changed (kCorrupt). Other bytes are verified by
  // read_generation as it reads them.
  static Result<std::unique_ptr<ContentStore>> open_complete(const Manifest& manifest,
                                                             const std::string& dir,
                                                             const OpenOptions& options);

  virtual ~ContentStore() = default;

  // Whether these bytes (Shape::padded_bytes) are the generation's, by its digest. Those that are
  // may be remembered, so that reading them back costs less than another digest (fingerprints.h).
  virtual bool verify_generation(std::uint32_t generation,
                                 std::span<const std::uint8_t> data) const = 0;

  // Puts a decoded generation (Shape::padded_bytes, already verified by the caller) into
  // its files and then into the journal. Files whose last generation this is get their mode, time
  // and final name at the next sync(): only then are their bytes known to be on the disk, and one
  // sync serves many small files.
  virtual Status write_generation(std::uint32_t generation, std::span<const std::uint8_t> data) = 0;

  // Reads a verified generation (Shape::padded_bytes, padding zero) and checks that it still is
  // what its digest says: kCorrupt if the files were changed underneath. What this store has
  // verified, as it came or as it was read, it compares with that (fingerprints.h); a content that
  // is only served is not even compared while its files stand as they were (hash_memory.h). One
  // that was lost and left alone is tried again.
  virtual Status read_generation(std::uint32_t generation, std::span<std::uint8_t> out) const = 0;

  // A generation could not be read: it is verified no more, here and in the journal, so that no
  // later run trusts it. True: fetch it and write it again: all of it lies in the work folder, or a
  // file of it was deleted there or is not chosen any more. If it was a finished file beside that
  // one that had changed, finish() says so.
  // False: a chosen file of it bears its final name, so it is the user's now and is left as it is;
  // other files that share the generation stay in the work folder. All bytes of a file that bears
  // its name and is not chosen any more are lost then; take_lost() tells of the other generations.
  virtual bool lose_generation(std::uint32_t generation) = 0;
  // Whether to read a lost generation that was left alone once more: its files are there, and not
  // as they were when it was found false. Costs a look at their stamps. Afterwards it is read from
  // the files that have the names now.
  virtual bool may_be_right_again(std::uint32_t generation) const = 0;
  // It has been read and is right again.
  virtual void regain_generation(std::uint32_t generation) = 0;
  // Generations in the work folder that sync() or finish() found lost; each is told once.
  virtual std::vector<std::uint32_t> take_lost() = 0;

  // Something that a person should know and that stopped nothing, also the opening or choose() (the
  // disk has not room for all that is wanted and missing); empty if there is nothing new.
  virtual std::string take_warning() = 0;

  // The spool. A slot written again is replaced.
  virtual Status write_row(const SpooledRow& row, std::span<const std::uint8_t> payload) = 0;
  // The row in this slot is proven now; or it is not: one that counted as proven is kNotKnown then,
  // others stay as they are. Cheap: its payload is not read. No error if there is none. Returns
  // whether anything was written.
  virtual Result<bool> set_proven(std::uint32_t generation, std::uint32_t slot, bool proven) = 0;
  virtual Status read_row(std::uint32_t generation, std::uint32_t slot,
                          std::span<std::uint8_t> payload_out) const = 0;
  // Forgets all slots of a generation; their place is used again (that of a verified generation
  // once a sync() has made its data durable: until then a power cut may still need them).
  virtual Status drop_rows(std::uint32_t generation) = 0;

  // Another choice of files, as OpenOptions::chosen, from now on and for later runs; also after
  // finish(). Files that are chosen now and complete get their names at the next sync(); what has
  // its final name keeps it. Nothing changes once all of the content is finished. Errors, which
  // change nothing: kUnsupported (the file system holds no file so large, or takes two of the names
  // for one), the disk's.
  virtual Status choose(std::vector<bool> chosen) = 0;

  // Makes everything written so far durable (fdatasync, then a mark in the journal), then names
  // chosen files that are complete. Called now and then, and on a clean stop. kExists if something
  // took a file's final path meanwhile; the rest is done all the same.
  virtual Status sync() = 0;

  // After the last wanted generation: everything durable, all chosen files named. If all are
  // chosen, the work folder is removed, and the content is only served from then on. Else the
  // download may go on after choose(), and be finished again. False if any wanted generation is not
  // verified, which may be a loss that take_lost() will tell. kCorrupt: wanted generations that
  // were lost and left alone are still not right. Everything else is finished; the work folder
  // stays for another run.
  virtual Result<bool> finish() = 0;
  // After finish(): where `dir` is, if it was moved during the download; else empty.
  virtual std::string moved_to() const { return {}; }

  virtual const Manifest& manifest() const = 0;
};

// Hashes everything that is chosen (kept_choice.h), with what shares its generations. For `firn
// verify` and for seeding.
struct VerifyReport {
  struct BadFile {
    std::string path;               // with `dir`
    std::string fault;              // mismatch_name() of file_mismatch.h
    std::uint64_t bytes_there = 0;  // of one that is too short or too long
    std::uint64_t bytes_wanted = 0;
  };
  std::vector<bool> chosen;  // the kept choice; empty: all
  std::string warning;       // that it cannot be read, so that all count as chosen; else empty
  std::vector<bool> good;    // per generation: whether it is wanted and right
  std::vector<BadFile>
      bad_files;              // exactly those chosen that are not as the manifest says; what stands
                              // in the place of a folder above some of them once for all of them
  std::size_t bad_count = 0;  // of the manifest's entries
  // The download of what is chosen is not complete; or all of that is right, and what the work
  // folder keeps of its generations for other files is not.
  bool unfinished = false;
  bool foreign = false;  // not one file or generation fits
  bool absent = false;   // nothing bears its top name
};
Result<VerifyReport> verify_content(const Manifest& manifest, const std::string& dir,
                                    const OpenOptions& options);

}  // namespace firn::store
