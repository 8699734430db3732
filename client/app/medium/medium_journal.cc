#include "client/app/medium/medium_journal.h"

#include <algorithm>
#include <string_view>

#include "client/app/medium/medium_file.h"
#include "client/store/posix_files.h"
#include "client/store/work_folder.h"

namespace firn::app {
namespace {

constexpr std::string_view kRowsEnding = ".rows";

// Label, rates and groups.
Result<medium::Label> find_rows(MediumReading& reading, const MediumSource& source,
                                const OnMisfit& on_misfit) {
  const auto labels = reading.find_label(false);
  if (!labels.ok()) return labels.error();
  const medium::Label& label = labels->label;
  if (source.expected && *source.expected != label.content)
    return Error{ErrorCode::kBadInput, "read " + source.path,
                 "this medium holds the content " + label.content.text() + ", not " +
                     source.expected->text()};
  const medium::Rates assumed = source.rates.value_or(label.planned);
  if (const Status used = reading.use(label, assumed); !used.ok()) return used.error();
  if (const Status found = reading.find_groups(); !found.ok()) return found.error();
  const auto fitted = reading.fit();
  if (!fitted.ok()) return fitted.error();
  if (fitted->words == 0 || fitted->factor == 1) return label;
  on_misfit(fitted->rates, assumed);
  if (const Status used = reading.use(label, fitted->rates); !used.ok()) return used.error();
  return label;
}

// Journals go when a process has completed the content.
bool gone(const Error& error) {
  return error.code == ErrorCode::kNotFound;
}

}  // namespace

Result<MediumJournal> read_medium_journal(const MediumSource& source, const ReadingOptions& options,
                                          const MediumEvents& events) {
  const auto input = MediumInput::open(source.path);
  if (!input.ok()) return input.error();
  MediumReading reading(**input, options);
  const auto label = find_rows(reading, source, events.on_misfit);
  if (!label.ok()) return label.error();
  auto files = store::open_posix_files(source.dir, true);
  if (!files.ok()) return files.error();
  if (Status made = store::make_folders(**files, store::WorkFolder::kParent); !made.ok())
    return made.error();
  const auto print = reading.fingerprint();
  if (!print.ok()) return print.error();
  const std::string name = store::WorkFolder::media_prefix_of(label->content) + print->short_text();
  auto lock = (*files)->lock(name + ".lock");
  if (!lock.ok()) return lock.error();
  if (!*lock)
    return Error{ErrorCode::kExists, "read " + source.path,
                 "it, or a copy of it, is being read into " + source.dir + " already"};
  auto rows = RowJournal::open(**files, name + std::string(kRowsEnding), *print, *label);
  if (!rows.ok()) return rows.error();
  if (events.on_rows) events.on_rows();
  if (const Status done = reading.read_groups(**rows); !done.ok()) return done.error();
  return MediumJournal{name, *std::move(lock), *std::move(rows)};
}

Status add_earlier_journals(const std::string& dir, std::vector<MediumJournal>& media) {
  const std::string prefix = store::WorkFolder::media_prefix_of(media.front().label().content);
  auto files = store::open_posix_files(dir, false);
  if (!files.ok()) return files.error();
  const auto names = (*files)->list(store::WorkFolder::kParent);
  if (!names.ok()) return gone(names.error()) ? Status(Done{}) : names.error();
  for (const std::string& file : *names) {
    std::string name = std::string(store::WorkFolder::kParent) + "/" + file;
    if (!name.starts_with(prefix) || !name.ends_with(kRowsEnding)) continue;
    name.resize(name.size() - kRowsEnding.size());
    const auto same = [&](const MediumJournal& medium) { return medium.name == name; };
    if (std::any_of(media.begin(), media.end(), same)) continue;
    auto lock = (*files)->lock(name + ".lock");
    if (!lock.ok() && gone(lock.error())) continue;
    if (!lock.ok()) return lock.error();
    if (!*lock) continue;
    auto rows = RowJournal::open_found(**files, name + std::string(kRowsEnding));
    if (!rows.ok() && gone(rows.error())) continue;
    if (!rows.ok()) return rows.error();
    if (!*rows || (*rows)->label().content != media.front().label().content) continue;
    media.push_back({name, *std::move(lock), *std::move(rows), true});
  }
  return Done{};
}

}  // namespace firn::app
