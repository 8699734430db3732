// A registry in memory with SQLite behind it, so that a restart keeps swarms and manifests.
//
// Peers are served from memory. Those that changed are written by flush(), many in one transaction,
// so an announce costs no disk access of its own; what a kill loses is what came after the last
// flush. Times are not written: a peer found in the database counts as announced at the moment of
// opening, which gives all peers time to come back. Manifests live in the database alone.
//
//   peer(content, id, ip, port, complete)
//   manifest(number, content, signer, network, used, bytes)
//
// `signer` is whose envelope it is (zeros: nobody signed it), `network` the prefix of the address
// that it came from. `number` orders manifests by when they were kept, `used` by last use.
// Shards share the room for manifests, so that one may take all of it; each knows its own by their
// numbers, and is told of those that have made room.
// PRAGMA user_version is the version of this schema. Version 2 kept one envelope of each content
// and no signers. Version 1 had no networks, and its manifests were not read in full before they
// were kept: they are dropped, and their owners put them again when they announce.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proto/base/unique_fd.h"
#include "proto/database/sqlite.h"
#include "tracker/manifest_rows.h"
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
  // One for each shard, on one database: each is used by one thread, and they take turns where they
  // write. `limits`: of all together. `seed`: as SwarmTable's.
  static Result<std::vector<std::unique_ptr<SqliteRegistry>>> open_shards(
      const std::string& path, Time now, const RegistryLimits& limits, std::size_t shards,
      std::uint64_t seed = 0);
  ~SqliteRegistry() override;  // flushes

  using Registry::announce;
  using Registry::sample;
  AnnounceOutcome announce(const ContentId& content, const PackedPeer& peer, Time now) override;
  void leave(const ContentId& content, const PeerId& peer) override;
  void expire(Time before) override;
  SwarmCounts counts(const ContentId& content) const override;
  void sample(const ContentId& content, const SampleRequest& request, Random& random,
              Endpoints& into) const override;
  void describe(Snapshot& snapshot) const override { swarms_.describe(snapshot); }
  std::optional<SeenPeer> find(const ContentId& content, const PeerId& peer) const override {
    return swarms_.seen(content, peer);
  }
  std::vector<ContentId> contents() const override { return swarms_.contents(); }
  void for_each_peer(const ContentId& content,
                     const std::function<void(const SeenPeer&)>& visit) const override {
    swarms_.for_each_of(content, visit);
  }
  // One that made room for another shard's is told of until the next call that puts, gets or
  // flushes.
  const std::vector<PublicKey>& signers_of(const ContentId& content) const override {
    return rows_.signers_of(content);
  }
  std::vector<Envelope> hosted_manifests() const override;
  std::optional<Hosted> hosted(const Envelope& envelope) const override;
  // Is on disk when it returns, with all changes before it.
  Status put_manifest(const ContentId& content, const std::string& prefix,
                      std::string_view bytes) override;
  Status remove_manifest(const Envelope& envelope) override;
  Result<proto::ManifestPart> manifest_part(
      const Envelope& envelope, std::uint64_t offset, std::size_t bytes_max,
      ManifestReading reading = ManifestReading::kUse) override;
  Status flush() override;
  // What failed is tried again after some seconds of calls, and the error is told until then: an
  // attempt may take long, and no announce is answered meanwhile.
  Status flush_some() override;

 private:
  struct Statements {
    Statement put_peer, remove_peer, put_manifest, remove_manifest, use_manifest;
  };

  using Shards = std::vector<std::unique_ptr<SqliteRegistry>>;
  // What the registries of one database share.
  struct File {
    File(const RegistryLimits& limits, std::size_t shards) : shelf(limits), gone(shards) {}

    UniqueFd lock;              // until the last database is closed
    std::mutex turn;            // to write; taken before the other
    std::int64_t last_row = 0;  // of a manifest; in turn. None is used twice while it is open
    std::mutex shelf_mutex;     // guards what follows
    ManifestShelf shelf;        // of all shards
    std::int64_t last_use = 0;
    std::vector<std::vector<Envelope>> gone;  // by shard: for another's, and it has not seen it
  };

  SqliteRegistry(std::shared_ptr<File> file, Database database, const RegistryLimits& limits,
                 std::uint64_t seed);
  Status prepare();
  Status load_peers(const Shards& shards, Time now);
  Status load_manifests(const Shards& shards);
  int unless_unflushed(int wait_ms) const { return unflushed_ ? 0 : wait_ms; }
  // In this registry's turn, as is what is called so. `wait_ms`: for a program that writes,
  // at most.
  template <typename Work>
  Status transaction(std::size_t peers_max, int wait_ms, Work work);
  void peer_changed(const ContentId& content, const PeerId& peer);
  Status remove_all_peers();
  Status write_changes(std::size_t peers_max);
  Status write_in_turn(std::size_t peers_max, int wait_ms);
  Status put_peer(const ContentId& content, const PackedPeer& peer);
  Status remove_in_turn(const Envelope& envelope);
  Status drop_manifest(const Envelope& envelope);  // in a transaction, or after wait_at_most()
  void forget_manifest(const Envelope& envelope);
  void forget_gone();

  const RegistryLimits limits_;  // of this shard
  SwarmTable swarms_;
  std::shared_ptr<File> file_;
  std::size_t shard_ = 0, shards_ = 1;
  Database database_;
  Statements statements_;  // before the database closes
  ManifestRows rows_;
  // What the database does not know yet, emptied by flush(). While the disk takes nothing, peers
  // come and go: once more have changed than can be served, all of them are to be written anew.
  std::set<std::pair<ContentId, PeerId>> changed_peers_;
  bool rewrite_peers_ = false;
  std::map<Envelope, std::int64_t> changed_uses_;
  // Why flush_some() failed, until a transaction succeeds, and how many of its calls are passed
  // over.
  std::optional<Error> unflushed_;
  int calls_to_pass_ = 0;
};

}  // namespace firn::tracker
