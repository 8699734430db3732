// Opens a download: looks at what stands at the final names, takes the work folder, and works out
// what is known of the content already (docs/formats.md, "Going on with a download").
//
// The order makes a kill at any moment harmless: nothing is vouched for before it is durable, and
// no file is taken back before the journal says no more than is known.
#pragma once

#include <set>
#include <vector>

#include "client/content/division.h"
#include "client/store/content_files.h"
#include "client/store/content_store.h"
#include "client/store/files.h"
#include "client/store/survey.h"
#include "client/store/work_folder.h"

namespace firn::store {

class DownloadOpening {
 public:
  struct Opened {
    bool complete = false;                // everything stands there: the work folder was not made
    std::vector<bool> verified;           // per generation
    std::vector<SpooledRow> rows;         // of the others
    std::set<std::uint32_t> replaceable;  // files in the way that may be replaced
  };

  // All are kept by reference. `content` gets the places of the files, and warnings.
  DownloadOpening(Files& files, const Manifest& manifest, ContentFiles& content, WorkFolder& work,
                  const OpenOptions& options);

  Result<Opened> open();

 private:
  Status check_names();
  Status refuse_and_leave_nothing(Status refusal);
  bool chosen(std::uint32_t file) const { return content::is_chosen(options_.chosen, file); }
  Status check_room();
  Status open_begun();
  Status open_work(const std::vector<bool>& standing);
  Result<bool> has_begun();
  Result<Survey> look(const JournalContents& journal, bool doubt_finished);
  Status take_name(const Survey& survey);
  // What brings a file to what the manifest says: OpenOptions::repair, or ::overwrite.
  struct Remedies {
    bool repair = false;
    bool replace = false;
  };
  Remedies remedies_for(const FileMismatch& fault) const;
  std::vector<FileMismatch> faults_in(const Survey& survey) const;
  Error refuse(const std::vector<FileMismatch>& faults) const;
  Status check_in_the_way(const Survey& survey) const;
  Status clear_the_way(const Survey& survey);
  Result<Survey> look_again(const Survey& survey);
  void note_unsynced(const std::vector<std::uint32_t>& generations);
  void note_names();
  Status vouch_for(const std::vector<bool>& verified);
  Status spool_known_blocks();
  Status spool_known_blocks_of(std::uint32_t generation);

  Files& files_;
  const Manifest& manifest_;
  const Info& info_;
  ContentFiles& content_;
  WorkFolder& work_;
  const OpenOptions& options_;
  const std::vector<bool> wanted_;  // per generation
  bool made_top_ = false;           // by this opening
  Opened opened_;
};

}  // namespace firn::store
