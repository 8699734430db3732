// The work folder of a download (docs/formats.md, "The work folder"): its lock, the manifest kept
// there, its journal and its spool. Content files on their way are ContentFiles' business.
//
// Not safe for threads while it is opened or removed; journal() and spool() are in between.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/store/files.h"
#include "client/store/journal.h"
#include "client/store/name_claim.h"
#include "client/store/spool.h"
#include "proto/content/manifest.h"

namespace firn::store {

class WorkFolder {
 public:
  static constexpr char kParent[] = ".firn";
  // Where a content's work folder, and the manifest kept in it, are below a download's folder.
  static std::string path_of(const ContentId& content);
  static std::string manifest_path_of(const ContentId& content);

  // How the names of all files begin that keep what was read of the content's media, beside its
  // work folder (client/app/medium).
  static std::string media_prefix_of(const ContentId& content);
  // Removes those, and the folder of all work folders if nothing else is in it.
  static Status remove_media(Files& files, const ContentId& content);

  // Both are kept by reference. Nothing is touched yet.
  WorkFolder(Files& files, const Manifest& manifest);

  const std::string& path() const { return path_; }  // relative to the folder of `files`
  Result<bool> exists() const;

  // Keeps every other download from this top name until this one ends. kExists if another has it.
  Status claim_name(const std::string& name);
  // Makes and locks the folder, and keeps the manifest and a mark in it. kExists if another process
  // has it, or another user (ownership.h).
  Status take();
  // Whether the file system holds files as large as the largest with bytes of these generations;
  // else kUnsupported.
  Status check_file_size(const std::vector<bool>& generations) const;
  // After take() (work_mark.h).
  const std::string& mark() const { return mark_; }
  // The top name of the download that has the folder (content/top_name.h), which marks what bears
  // that name as the download's: the manifest's, unless another was kept.
  Result<std::string> top_name() const;
  static Status keep_top_name(Files& files, const ContentId& content, const Info& info,
                              const std::string& name);
  static std::string top_name_path_of(const ContentId& content);
  Result<bool> has_journal() const;
  // Where the folder is neither sealed (work_mark.h) nor known by its mark, it may have come out of
  // an archive: then nothing that the journal says is durable, and the spool is removed.
  Result<JournalContents> read_journal(const std::string& known_mark);
  // After begin_journal(): the next run may believe the journal.
  Status seal();
  // Begins the journal anew, with these generations. What it speaks of must be durable already.
  Status begin_journal(const std::vector<bool>& verified);
  // Opens the spool; `rows` are those of generations that are not verified.
  Status open_spool(const std::vector<bool>& verified, std::vector<SpooledRow>& rows);
  // What it held is fetched again.
  Status remove_spool();
  Status sync_folders();

  // After begin_journal() and open_spool().
  Journal& journal() { return *journal_; }
  Spool& spool() { return *spool_; }
  const Spool& spool() const { return *spool_; }

  // The lock goes last, with everything else in an order that loses least if it is cut short; what
  // was read of media after it.
  Status remove();
  // Of a download that was refused as soon as it had the folder: what was read of media stays.
  Status discard();

 private:
  Status remove_folder();
  Status take_parent();
  Status take_lock();
  Status keep_manifest();

  Files& files_;
  const Manifest& manifest_;
  const std::string path_;
  bool parent_taken_ = false;
  std::string mark_;
  std::unique_ptr<Lock> lock_;
  std::unique_ptr<NameClaim> name_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Spool> spool_;
};

// The positions of those that are set.
std::vector<std::uint32_t> indices_of(const std::vector<bool>& flags);

}  // namespace firn::store
