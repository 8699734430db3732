#include "client/store/work_mark.h"

#include <sys/random.h>

#include <array>
#include <memory>
#include <string_view>

#include "client/store/posix_files.h"
#include "client/store/work_folder.h"
#include "proto/base/result.h"

namespace firn::store {
namespace {

constexpr std::size_t kMarkBytes = 16;
constexpr std::string_view kDigits = "0123456789abcdef";

std::string path_of(const std::string& work) {
  return work + "/mark";
}

// Empty: there is none, or what a power cut left of one.
Result<std::string> read_mark(Files& files, const std::string& work) {
  const auto bytes = read_whole_file(files, path_of(work), 4 * kMarkBytes);
  if (!bytes) {
    const ErrorCode code = bytes.error().code;
    if (code == ErrorCode::kNotFound || code == ErrorCode::kCorrupt) return std::string();
    return bytes.error();
  }
  std::string mark(bytes->begin(), bytes->end());
  const bool whole =
      mark.size() == 2 * kMarkBytes && mark.find_first_not_of(kDigits) == std::string::npos;
  return whole ? mark : std::string();
}

Result<std::string> seal_of(Files& files, const std::string& work) {
  const Result<FileStat> mark = files.stat(path_of(work));
  if (!mark) return mark.error();
  return std::to_string(mark->inode) + " " + std::to_string(mark->changed_ns);
}

std::string draw_mark() {
  std::array<std::uint8_t, kMarkBytes> drawn;
  FIRN_CHECK(::getrandom(drawn.data(), drawn.size(), 0) == kMarkBytes);
  std::string mark;
  for (const std::uint8_t byte : drawn) {
    mark += kDigits[byte >> 4];
    mark += kDigits[byte & 15];
  }
  return mark;
}

}  // namespace

Result<std::string> take_work_mark(Files& files, const std::string& work) {
  auto mark = read_mark(files, work);
  if (!mark || !mark->empty()) return mark;
  *mark = draw_mark();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(mark->data());
  if (Status s = write_whole_file(files, path_of(work), {bytes, mark->size()}); !s)
    return s.error();
  return mark;
}

Status seal(Files& files, const std::string& work) {
  const Result<bool> sealed = is_sealed(files, work);
  if (!sealed) return sealed.error();
  if (*sealed) return Done{};
  const Result<std::string> text = seal_of(files, work);
  if (!text) return text.error();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text->data());
  return write_whole_file(files, work + "/seal", {bytes, text->size()});
}

Result<bool> is_sealed(Files& files, const std::string& work) {
  const Result<std::string> wanted = seal_of(files, work);
  if (!wanted) return wanted.error();
  const auto kept = read_whole_file(files, work + "/seal", 64);
  if (kept) return std::string(kept->begin(), kept->end()) == *wanted;
  const ErrorCode code = kept.error().code;
  if (code == ErrorCode::kNotFound || code == ErrorCode::kCorrupt) return false;
  return kept.error();
}

Result<bool> download_is_there(const std::string& dir, const ContentId& content,
                               const std::string& top_name, const std::string& mark) {
  const Result<std::unique_ptr<Files>> files = open_posix_files(dir, false);
  if (!files && files.error().code == ErrorCode::kNotFound) return false;
  if (!files) return files.error();
  const auto found = read_mark(**files, WorkFolder::path_of(content));
  if (!found) return found.error();
  if (*found == mark) return true;
  const Result<FileStat> top = (*files)->stat(top_name);
  if (!top) return top.error();
  return top->kind != FileKind::kMissing;
}

}  // namespace firn::store
