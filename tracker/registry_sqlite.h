// A registry in memory with SQLite behind it, so that a restart keeps swarms and manifests.
//
// Peers are served from memory. Those that changed are written by flush(), all in one transaction,
// so an announce costs no disk access of its own; what a kill loses is what came after the last
// flush. Times are not written: a peer found in the database counts as announced at the moment of
// opening, which gives all peers time to come back. Manifests live in the database alone.
//
//   peer(content, id, ip, port, complete)      manifest(number, content, network, used, bytes)
//
// `network` is the prefix of the address that a manifest came from, `used` orders them by last use.
// PRAGMA user_version is the version of this schema. Version 1 had no networks, and its manifests
// were not read in full before they were kept: they are dropped, and their owners put them again
// when they announce.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "proto/base/unique_fd.h"
#include "proto/database/sqlite.h"
#include "tracker/manifest_shelf.h"
#include "tracker/registry.h"
#include "tracker/swarm_table.h"

namespace firn::tracker {

class SqliteRegistry final : public Registry {
 public:
  // Errors: kCorrupt, kReadOnly, kDiskFull, kExists (another process has it), kBadInput (a newer
  // schema), kIo; each says what to do.
  static Result<std::unique_ptr<SqliteRegistry>> open(const std::string& path, Time now,
                                                      const RegistryLimits& limits = {});
  ~SqliteRegistry() override;  // flushes

  AnnounceOutcome announce(const ContentId& content, const Peer& peer, Time now) override;
  void leave(const ContentId& content, const PeerId& peer) override;
  void expire(Time before) override;
  SwarmCounts counts(const ContentId& content) const override;
  std::vector<proto::PeerEndpoint> sample(const ContentId& content, const SampleRequest& request,
                                          Random& random) const override;
  void describe(Snapshot& snapshot) const override { swarms_.describe(snapshot); }
  bool has_peer(const ContentId& content, const PeerId& peer) const override;
  bool has_manifest(const ContentId& content) const override;
  // Is on disk when it returns, with all changes before it.
  Status put_manifest(const ContentId& content, const std::string& prefix,
                      std::string_view bytes) override;
  Status remove_manifest(const ContentId& content) override;
  Result<proto::ManifestPart> manifest_part(const ContentId& content, std::uint64_t offset,
                                            std::size_t bytes_max) override;
  Status flush() override;

 private:
  struct Statements {
    Statement put_peer, remove_peer, put_manifest, remove_manifest, use_manifest;
  };

  SqliteRegistry(UniqueFd lock, Database database, const RegistryLimits& limits);
  Status prepare();
  Status load_peers(Time now);
  Status load_manifests();
  template <typename Work>
  Status transaction(Work work);
  void peer_changed(const ContentId& content, const PeerId& peer);
  Status write_changes();
  Status put_peer(const ContentId& content, const Peer& peer);
  Status drop_manifest(const ContentId& content);
  void forget_manifest(const ContentId& content);

  const RegistryLimits limits_;
  SwarmTable swarms_;
  ManifestShelf shelf_;
  UniqueFd lock_;  // until the database is closed
  Database database_;
  Statements statements_;  // before the database closes
  std::unordered_map<ContentId, std::int64_t> manifest_rows_;
  std::int64_t last_use_ = 0;
  // What the database does not know yet, emptied by flush(). While the disk takes nothing, peers
  // come and go: once more have changed than can be served, all of them are to be written anew.
  std::set<std::pair<ContentId, PeerId>> changed_peers_;
  bool rewrite_peers_ = false;
  std::map<ContentId, std::int64_t> changed_uses_;
};

}  // namespace firn::tracker
