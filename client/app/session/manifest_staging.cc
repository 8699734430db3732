#include "client/app/session/manifest_staging.h"

#include <utility>

#include "client/privacy/manifest_seal.h"
#include "proto/content/manifest.h"

namespace firn::app {
namespace {

using core::SwarmCore;
using Keys = std::shared_ptr<const privacy::PrivateKeys>;

// The file, once what can be said of it without reading it whole into memory is right. `keys`: it
// is sealed.
Result<std::string> prove(ManifestSpool& spool, const ContentId& content, const Keys& keys) {
  const auto bytes = spool.bytes();
  if (!bytes.ok()) return bytes.error();
  if (keys) return privacy::open_manifest(*keys, *bytes);
  const auto id = manifest_content_id(*bytes);
  if (!id.ok()) return id.error();
  if (*id != content)
    return Error{ErrorCode::kCorrupt, "read the manifest",
                 "it is of the content " + id->text() + ", not of " + content.text()};
  return std::string(*bytes);
}

}  // namespace

void ManifestStaging::keep(const core::KeepManifestPart& action) {
  const proto::ManifestPart& part = action.part;
  if (part.data.empty()) {
    staged_.erase(action.peer);
    return;
  }
  Staged& staged = staged_[action.peer];
  if (part.offset == 0)
    staged = {std::make_shared<ManifestSpool>(plan_.core.memory_bytes / kManifestMemoryShare)};
  if (staged.kept.ok()) staged.kept = staged.spool->append(part.data);
  if (part.offset + part.data.size() < part.total_bytes) return;
  const Staged whole = std::move(staged);
  staged_.erase(action.peer);
  if (!whole.kept.ok()) return answer(action.peer, 0, whole.kept.error());
  prove(action.peer, 0, whole.spool);
}

void ManifestStaging::came_from(std::size_t tracker, std::shared_ptr<ManifestSpool> spool) {
  prove(core::kNoPeer, tracker, std::move(spool));
}

void ManifestStaging::prove(core::PeerKey peer, std::size_t tracker,
                            std::shared_ptr<ManifestSpool> spool) {
  const Keys keys = peer == core::kNoPeer ? plan_.keys : nullptr;
  auto work = [this, here = here_, peer, tracker, spool, keys,
               content = plan_.content_id]() -> WorkerPool::Completion {
    const auto proven = std::make_shared<Result<std::string>>(app::prove(*spool, content, keys));
    return [this, here, peer, tracker, proven] {
      if (*here) answer(peer, tracker, std::move(*proven));
    };
  };
  if (host_.coding.pool.submit(WorkerPool::kUnordered, std::move(work))) return;
  answer(peer, tracker, app::prove(*spool, plan_.content_id, keys));
}

void ManifestStaging::answer(core::PeerKey peer, std::size_t tracker, Result<std::string> proven) {
  core_.feed(&SwarmCore::manifest_read, peer, tracker, std::move(proven));
}

}  // namespace firn::app
