#include "client/app/medium/medium_writing.h"

#include <optional>

#include "client/app/medium/medium_file.h"
#include "client/medium/groups.h"
#include "client/medium/sync_inner_code.h"

namespace firn::app {

Result<std::uint64_t> write_medium(const Manifest& manifest, const content::ContentPlace& place,
                                   const medium::Label& planned, const std::string& path,
                                   const ContentRows::Watch& watch) {
  medium::Label label = planned;
  label.content = manifest.id;
  const auto inner = medium::SyncInnerCode::make(label.inner, label.word_bytes, label.planned);
  if (!inner.ok()) return inner.error();
  auto output = MediumOutput::open(path);
  if (!output.ok()) return output.error();
  auto rows = ContentRows::open(manifest, place, label, watch);
  if (!rows.ok()) return rows.error();
  const medium::GroupWriter writer(label, *inner, std::make_shared<medium::LabelCode>());
  std::optional<Error> failed;
  const auto payload_of = [&](std::uint64_t place) -> std::vector<std::uint8_t> {
    auto payload = (*rows)->payload(place);
    if (payload.ok()) return *std::move(payload);
    failed = payload.error();
    return {};
  };
  for (std::uint64_t group = 0; group < label.group_count(); ++group) {
    if (watch.cancelled && watch.cancelled())
      return Error{ErrorCode::kCancelled, "write " + path, "stopped"};
    if (watch.progress) watch.progress("writing", group, label.group_count());
    const medium::Bits bits = writer.group(group, payload_of);
    if (failed) return *failed;
    if (const Status put = (*output)->put(bits); !put.ok()) return put.error();
  }
  if (const Status put = (*output)->put(writer.ending()); !put.ok()) return put.error();
  if (const Status same = (*rows)->verify(); !same.ok()) return same.error();
  if (const Status finished = (*output)->finish(); !finished.ok()) return finished.error();
  return (*output)->bytes();
}

}  // namespace firn::app
