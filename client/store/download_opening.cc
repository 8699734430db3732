#include "client/store/download_opening.h"

#include <algorithm>

#include "client/content/entries_text.h"
#include "client/store/advice.h"
#include "client/store/free_room.h"
#include "client/store/kept_choice.h"
#include "client/store/names.h"
#include "client/store/top_folder.h"

namespace firn::store {
namespace {

// Of what is known at the start: of vectors, and of payloads in the spool.
constexpr std::uint64_t kKnownVectorBytes = 64 << 20;
constexpr std::uint64_t kKnownPayloadBytes = 256 << 20;

}  // namespace

DownloadOpening::DownloadOpening(Files& files, const Manifest& manifest, ContentFiles& content,
                                 WorkFolder& work, const OpenOptions& options)
    : files_(files),
      manifest_(manifest),
      info_(manifest.info),
      content_(content),
      work_(work),
      options_(options),
      wanted_(content::wanted_generations(info_, options.chosen)) {}

Result<DownloadOpening::Opened> DownloadOpening::open() {
  Result<bool> begun = has_begun();
  if (!begun) return begun.error();
  if (*begun) {
    if (Status s = open_begun(); !s) return s.error();
    if (Status s = check_room(); !s) return s.error();
  } else {
    // Nothing is written before it is clear that something has to be.
    JournalContents nothing;
    nothing.readable = true;
    Result<Survey> found = look(nothing, options_.repair);
    if (!found) return found.error();
    if (found->complete) {
      // A kill at the very end of an earlier run may have left it; it harms no one if it stays.
      (void)WorkFolder::remove_media(files_, manifest_.id).ok();
      opened_.complete = true;
      opened_.verified = found->verified;
      return std::move(opened_);
    }
    if (Status s = check_room(); !s) return s.error();
    if (Status s = take_name(*found); !s) return s.error();
    if (Status s = work_.claim_name(content_.top_name()); !s) return s.error();
    // Another download may have had the name meanwhile.
    if (Status s = take_name(*found); !s) return s.error();
    if (Status s = open_work(found->verified); !s) return s.error();
  }
  // The last step: an opening that fails has not changed the choice.
  if (Status s = keep_choice(files_, work_.path(), options_.chosen); !s) return s.error();
  return std::move(opened_);
}

// Where the disk is full, its spool may be what fills it.
Status DownloadOpening::open_begun() {
  const std::vector<bool> nothing(info_.shape.generation_count());
  if (Status s = work_.take(); !s) return s;
  if (Status s = work_.claim_name(content_.top_name()); !s) return s;
  Status opened = open_work(nothing);
  if (opened || opened.error().code != ErrorCode::kDiskFull) return opened;
  if (Status s = work_.remove_spool(); !s) return s;
  opened_ = {};
  content_.warn(opened.error().message() +
                ": blocks of unfinished generations were deleted to make room, and are fetched "
                "again");
  return open_work(nothing);
}

// A work folder tells that what bears its own top name is the download's, and nothing of another.
Result<bool> DownloadOpening::has_begun() {
  const Result<bool> there = work_.exists();
  if (!there || !*there) return there;
  const Result<std::string> name = work_.top_name();
  if (!name) return name.error();
  if (*name == content_.top_name()) return true;
  if (Status s = work_.take(); !s) return s.error();
  return false;
}

Result<Survey> DownloadOpening::look(const JournalContents& journal, bool doubt_finished) {
  return survey(files_, content_, manifest_, journal, options_, doubt_finished);
}

// `standing`: generations that were found right just now.
Status DownloadOpening::open_work(const std::vector<bool>& standing) {
  if (Status s = work_.take(); !s) return s;
  if (Status s = WorkFolder::keep_top_name(files_, manifest_.id, info_, content_.top_name()); !s)
    return s;
  if (Status s = check_names(); !s) return refuse_and_leave_nothing(std::move(s));
  if (Status s = work_.check_file_size(wanted_); !s) return refuse_and_leave_nothing(std::move(s));
  Result<JournalContents> journal = work_.read_journal(options_.mark);
  if (!journal) return journal.error();
  const std::vector<std::uint32_t> known = indices_of(standing);
  journal->durable.insert(journal->durable.end(), known.begin(), known.end());

  Result<Survey> found = look(*journal, options_.repair);
  if (!found) return found.error();
  if (Status s = check_in_the_way(*found); !s) return refuse_and_leave_nothing(std::move(s));
  // What was hashed is right, but perhaps only in memory: made durable, then vouched for.
  note_unsynced(known);
  note_unsynced(found->rehashed);
  note_names();
  if (!found->in_the_way.empty()) {
    found = look_again(*found);
    if (!found) return found.error();
  }
  opened_.verified = found->verified;
  if (Status s = vouch_for(opened_.verified); !s) return s;
  if (Status s = work_.seal(); !s) return s;
  if (Status s = work_.open_spool(opened_.verified, opened_.rows); !s) return s;
  if (Status s = spool_known_blocks(); !s) return s;
  if (!info_.single_file) {  // the work folder says that it is ours, if it is still there
    if (auto top = take_top_folder(files_, info_, content_.top_name()); !top) return top.error();
  }
  return work_.sync_folders();
}

// What the last opening or choice found possible is so still.
Status DownloadOpening::check_names() {
  const std::string folder = work_.path() + "/data";
  const Result<FileStat> there = files_.stat(folder);
  if (!there) return there.error();
  const Result<std::vector<bool>> kept = kept_choice(files_, manifest_);
  if (there->kind != FileKind::kMissing && kept &&
      (*kept == options_.chosen || (kept->empty() && content::all_chosen(options_.chosen))))
    return remove_tree(files_, folder + ".new", options_.cancelled);  // of a choice that was killed
  return make_names(files_, info_, folder, options_.chosen, options_.cancelled);
}

// The file system cannot hold the content (or has no inodes left), which is found out before a byte
// is fetched. A work
// folder that stayed would let the next try pass for a download that has begun.
Status DownloadOpening::refuse_and_leave_nothing(Status refusal) {
  const ErrorCode code = refusal.error().code;
  if (code != ErrorCode::kExists && code != ErrorCode::kUnsupported && code != ErrorCode::kDiskFull)
    return refusal;
  if (const Result<bool> known = work_.has_journal(); !known || *known) return refusal;
  if (Status s = work_.discard(); !s) return s;
  if (made_top_) (void)files_.remove_folder(content_.top_name()).ok();
  return refusal;
}

Status DownloadOpening::check_room() {
  auto lacking = lacking_room(files_, info_, content_, options_.chosen, options_.repair);
  if (!lacking) return Done{};
  if (options_.room_needed) return *std::move(lacking);
  content_.warn(room_warning(*std::move(lacking)));
  return Done{};
}

// Takes what is in the way back or marks it as replaceable, and looks at what is known then.
Result<Survey> DownloadOpening::look_again(const Survey& survey) {
  // Before a file is taken back the journal says no more than what is known of it now: a kill
  // from here on leaves a file in the work folder of which nothing else is believed.
  if (Status s = vouch_for(survey.verified); !s) return s.error();
  if (Status s = clear_the_way(survey); !s) return s.error();
  JournalContents right;
  right.readable = true;
  right.durable = indices_of(survey.verified);
  Result<Survey> found = look(right, false);  // the finished files have been hashed
  if (!found) return found;
  note_unsynced(found->rehashed);
  // Left in place to be replaced, and no part of the download.
  for (const FileMismatch& fault : found->in_the_way) {
    if (content_.place(fault.file) == Place::kFinished) {
      content_.set_place(fault.file, Place::kAbsent);
    }
  }
  return found;
}

void DownloadOpening::note_unsynced(const std::vector<std::uint32_t>& generations) {
  for (const std::uint32_t generation : generations) {
    for (const content::FileSpan& span : content::spans_of(info_, generation))
      content_.note_unsynced(span.file);
  }
}

// Names that an earlier run made, in the work folder or for good, before it was killed. No later
// sync knows of them.
void DownloadOpening::note_names() {
  for (std::uint32_t file = 0; file < info_.files.size(); ++file)
    if (content_.place(file) != Place::kAbsent) content_.note_unsynced_name(file);
}

// Makes durable what was noted, then begins the journal anew with these generations.
Status DownloadOpening::vouch_for(const std::vector<bool>& verified) {
  const ContentFiles::Unsynced unsynced = content_.take_unsynced();
  if (Status s = content_.sync(unsynced); !s) return s;
  return work_.begin_journal(verified);
}

// Of a download without a work folder. The top folder is made first: a work folder proves that the
// top folder is this download's.
Status DownloadOpening::take_name(const Survey& survey) {
  if (!info_.single_file && !options_.repair && !options_.overwrite) {
    const Result<TopFolder> top = take_top_folder(files_, info_, content_.top_name());
    if (!top) return top.error();
    made_top_ |= *top == TopFolder::kMade;
    if (*top == TopFolder::kTaken) return refuse(faults_in(survey));
  }
  return check_in_the_way(survey);
}

Status DownloadOpening::check_in_the_way(const Survey& survey) const {
  std::vector<FileMismatch> faults;
  for (const FileMismatch& fault : survey.in_the_way) {
    const Remedies can = remedies_for(fault);
    if ((options_.repair && can.repair) || (options_.overwrite && can.replace)) continue;
    faults.push_back(fault);
  }
  if (faults.empty()) return Done{};
  return refuse(faults);
}

DownloadOpening::Remedies DownloadOpening::remedies_for(const FileMismatch& fault) const {
  if (fault.kind == FileMismatch::Kind::kMissing) return {true, true};
  const FileEntry::Kind wanted = info_.files[fault.file].kind;
  Result<FileStat> stat = files_.stat(content_.final_name(fault.file));
  const bool folder = !stat || stat->kind == FileKind::kFolder;  // or below something else
  return {wanted == FileEntry::Kind::kFile && fault.kind != FileMismatch::Kind::kKind,
          !folder && wanted != FileEntry::Kind::kFolder};
}

// All that is chosen and not there, or not right.
std::vector<FileMismatch> DownloadOpening::faults_in(const Survey& survey) const {
  std::vector<FileMismatch> faults = survey.in_the_way;
  std::set<std::uint32_t> told;
  for (const FileMismatch& fault : faults) told.insert(fault.file);
  for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
    if (chosen(file) && content_.place(file) != Place::kFinished && !told.contains(file))
      faults.push_back({file, FileMismatch::Kind::kMissing});
  }
  return faults;
}

Error DownloadOpening::refuse(const std::vector<FileMismatch>& faults) const {
  const std::string operation = "download to " + files_.full_path(content_.top_name());
  Remedies all{true, true};
  bool nothing_there = true;
  for (std::uint32_t file = 0; file < info_.files.size(); ++file)
    nothing_there &= content_.place(file) != Place::kFinished;
  for (const FileMismatch& fault : faults) {
    const Remedies can = remedies_for(fault);
    all.repair &= can.repair;
    all.replace &= can.replace;
    nothing_there &= fault.kind == FileMismatch::Kind::kMissing;
  }
  const std::string elsewhere =
      "choose another folder (-o) or another name (--as), or move it away";
  if (nothing_there) {
    return Error{ErrorCode::kExists, operation,
                 "another folder of that name is there; " + elsewhere};
  }
  if (faults.empty()) {
    return Error{ErrorCode::kExists, operation,
                 "all that was chosen is there, in a folder that no download made; --repair goes "
                 "on in that folder, or " +
                     elsewhere};
  }
  std::string detail = content::part_of_entries(faults.size(), info_.files) +
                       " not as the manifest says: " + list_mismatches(content_, info_, faults) +
                       "; ";
  if (all.repair && looks_foreign(files_, info_, options_.as)) {
    detail += std::string(kForeignAdvice) + ": " + elsewhere;
    detail += all.replace ? ", or replace it (--repair or --overwrite)" : ", or --repair it";
    return Error{ErrorCode::kExists, operation, detail};
  }
  if (all.repair) detail += "--repair fetches what is missing or wrong and keeps the rest, ";
  if (all.replace) detail += "--overwrite replaces them, ";
  detail += "or move them away, or choose another folder (-o) or another name (--as)";
  return Error{ErrorCode::kExists, operation, detail};
}

// What may be replaced stays until the new file takes its name, unless parts of it are right, or it
// is to be repaired: then it becomes the file on its way.
Status DownloadOpening::clear_the_way(const Survey& survey) {
  for (const FileMismatch& fault : survey.in_the_way) {
    const std::uint32_t file = fault.file;
    opened_.replaceable.insert(file);
    if (content_.place(file) == Place::kWork) continue;  // that one goes on
    const bool plain = info_.files[file].kind == FileEntry::Kind::kFile;
    const bool repair = options_.repair && plain && fault.kind != FileMismatch::Kind::kKind;
    const content::GenerationRange range = content::generations_of(info_, file);
    const bool useful =
        content_.place(file) == Place::kFinished && plain &&
        std::any_of(survey.verified.begin() + range.first, survey.verified.begin() + range.last,
                    [](bool good) { return good; });
    if (!useful && !repair) {
      content_.set_place(file, Place::kAbsent);
      continue;
    }
    const Result<bool> copied = content_.unfinish_file(file);
    if (!copied) return copied.error();
    if (!*copied) opened_.replaceable.erase(file);  // its final path is free now
  }
  return Done{};
}

// Blocks with all their bytes in files that are right, of generations that other files leave
// unverified, are as good as received: no peer need send them. They are copied, and their vectors
// are held in memory: so of a bounded number of generations, the others are fetched in whole.
Status DownloadOpening::spool_known_blocks() {
  std::set<std::uint32_t> partly_known;
  for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
    if (content_.place(file) != Place::kFinished) continue;
    const content::GenerationRange range = content::generations_of(info_, file);
    for (std::uint32_t g = range.first; g < range.last; ++g) {
      if (wanted_[g] && !opened_.verified[g]) partly_known.insert(g);
    }
  }
  for (const SpooledRow& row : opened_.rows)
    partly_known.erase(row.generation);  // known to that run too
  const std::uint64_t n = info_.shape.generation_size;
  std::uint64_t room = std::min(kKnownVectorBytes / (3 * n * n),
                                kKnownPayloadBytes / info_.shape.generation_bytes());
  for (const std::uint32_t g : partly_known) {
    if (room-- == 0) break;
    if (options_.cancelled && options_.cancelled())
      return Error{ErrorCode::kCancelled, "open " + files_.full_path(content_.top_name()),
                   "stopped"};
    Status spooled = spool_known_blocks_of(g);
    if (!spooled && spooled.error().code == ErrorCode::kDiskFull) break;  // it is only a help
    if (!spooled) return spooled;
  }
  return Done{};
}

Status DownloadOpening::spool_known_blocks_of(std::uint32_t generation) {
  const Shape& shape = info_.shape;
  const std::uint64_t begin = generation * shape.generation_bytes();
  const std::uint64_t end = begin + shape.bytes_in_generation(generation);
  std::vector<std::uint8_t> payload(shape.block_bytes);
  std::vector<SpooledRow> spooled;
  std::uint32_t known = 0;
  for (std::uint32_t block = 0; block < shape.blocks_in(generation); ++block) {
    const std::uint64_t from = begin + std::uint64_t{block} * shape.block_bytes;
    const std::uint64_t bytes = std::min<std::uint64_t>(shape.block_bytes, end - from);
    const auto spans = content::spans_of(info_, from, bytes);
    const auto right = [this](const content::FileSpan& span) {
      return content_.place(span.file) == Place::kFinished;
    };
    if (!std::all_of(spans.begin(), spans.end(), right)) continue;
    // All of them: then its digest is not that of its files, and they are no help.
    if (++known == shape.blocks_in(generation)) return work_.spool().drop(generation);
    std::ranges::fill(payload, std::uint8_t{0});
    if (Status s = content_.read(from, std::span(payload).first(bytes)); !s) return s;
    SpooledRow row{generation, block, std::vector<std::uint8_t>(shape.blocks_in(generation)), {}};
    row.vector[block] = 1;
    if (Status s = work_.spool().write(row, payload); !s) return s;
    spooled.push_back(std::move(row));
  }
  std::ranges::move(spooled, std::back_inserter(opened_.rows));
  return Done{};
}

}  // namespace firn::store
