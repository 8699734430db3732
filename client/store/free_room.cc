#include "client/store/free_room.h"

#include <algorithm>

#include "client/content/division.h"

namespace firn::store {
namespace {

// A download whose disk has room for its content and the blocks of so many generations completes:
// one in the spool, and one whose data is on the disk and not yet durable.
constexpr std::uint64_t kSpoolGenerations = 2;

// What the disk has yet to give to the wanted bytes of files that have not their final names.
std::uint64_t bytes_lacking(Files& files, const Info& info, const ContentFiles& content,
                            const std::vector<bool>& chosen, bool repair) {
  const std::vector<bool> generations = content::wanted_generations(info, chosen);
  std::uint64_t wanted = 0;
  for (std::uint32_t file = 0; file < info.files.size(); ++file) {
    const Place place = content.place(file);
    if (info.files[file].kind != FileEntry::Kind::kFile || place == Place::kFinished) continue;
    Result<FileStat> there = FileStat{};
    if (place == Place::kWork) there = files.stat(content.work_name(file));
    if (place == Place::kAbsent && repair && content::is_chosen(chosen, file))
      there = files.stat(content.final_name(file));  // it is taken back
    const std::uint64_t bytes = content::bytes_in(info, file, generations);
    wanted += bytes - std::min(bytes, there ? there->allocated : 0);
  }
  return wanted + std::min(wanted, kSpoolGenerations * info.shape.generation_bytes());
}

}  // namespace

// The content's own folder may be on another disk, to which its files are copied at the end.
std::optional<Error> lacking_room(Files& files, const Info& info, const ContentFiles& content,
                                  const std::vector<bool>& chosen, bool repair) {
  const std::uint64_t wanted = bytes_lacking(files, info, content, chosen, repair);
  for (const std::string& folder : {std::string(), content.top_name()}) {
    const Result<std::uint64_t> free = files.free_bytes(folder);
    if (!free || *free >= wanted) continue;
    return Error{ErrorCode::kDiskFull, "download to " + files.full_path(folder),
                 std::to_string((wanted >> 20) + 1) + " MiB are needed, and " +
                     std::to_string(*free >> 20) + " MiB are free"};
  }
  return std::nullopt;
}

std::string room_warning(Error lacking) {
  lacking.detail +=
      "; free space there, or the download stops when the disk is full, and waits until there is "
      "more";
  return lacking.message();
}

}  // namespace firn::store
