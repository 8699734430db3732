#include "client/store/kept_choice.h"

#include <algorithm>
#include <memory>

#include "client/content/division.h"
#include "client/store/posix_files.h"
#include "client/store/work_folder.h"
#include "proto/base/limits.h"

namespace firn::store {
namespace {

std::string choice_path(const std::string& work) {
  return work + "/choice";
}

}  // namespace

Status keep_choice(Files& files, const std::string& work, const std::vector<bool>& chosen) {
  const std::string path = choice_path(work);
  const auto write = [&](const std::vector<std::uint8_t>& digits) {
    return digits.empty() ? files.remove(path) : write_whole_file(files, path, digits);
  };
  std::vector<std::uint8_t> digits(content::all_chosen(chosen) ? 0 : chosen.size());
  std::transform(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(digits.size()),
                 digits.begin(), [](bool flag) { return flag ? '1' : '0'; });
  const auto last = read_whole_file(files, path, limits::kFileCountMax);
  if (digits.empty() || !last || *last != digits)
    if (Status s = write(digits); !s) return s;
  Status synced = files.sync_folder(work);
  if (!synced) (void)write(last ? *last : std::vector<std::uint8_t>()).ok();
  return synced;
}

Result<std::vector<bool>> kept_choice(Files& files, const Manifest& manifest) {
  const std::string path = choice_path(WorkFolder::path_of(manifest.id));
  const auto digits = read_whole_file(files, path, limits::kFileCountMax);
  if (!digits && digits.error().code == ErrorCode::kNotFound) return std::vector<bool>();
  if (!digits) return digits.error();
  const auto is_digit = [](std::uint8_t byte) { return byte == '0' || byte == '1'; };
  if (digits->size() != manifest.info.files.size() || !std::ranges::all_of(*digits, is_digit))
    return Error{ErrorCode::kCorrupt, "read " + files.full_path(path),
                 "it is no choice of this content's files; all files count as chosen"};
  std::vector<bool> chosen;
  for (const std::uint8_t digit : *digits) chosen.push_back(digit == '1');
  if (content::all_chosen(chosen)) chosen.clear();
  return chosen;
}

Result<std::vector<bool>> kept_choice(const std::string& dir, const Manifest& manifest) {
  const Result<std::unique_ptr<Files>> files = open_posix_files(dir, false);
  if (!files && files.error().code == ErrorCode::kNotFound) return std::vector<bool>();
  if (!files) return files.error();
  return kept_choice(**files, manifest);
}

}  // namespace firn::store
