#include "tracker/registry_sqlite.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <limits>

#include "proto/content/manifest.h"
#include "tracker/registry_memory.h"
#include "tracker/registry_schema.h"

namespace firn::tracker {
namespace {

constexpr std::size_t kAllPeers = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kPeersAtOnce = 1000;  // some 4 ms in which no announce is answered

// How long a program that writes may hold us up: what a peer waits for and the last flush, and
// changes that can wait. While these cannot be written, not at all but for the last flush.
constexpr int kWaitMs = 200;
constexpr int kFlushWaitMs = 20;
constexpr int kCallsPassed = 20;  // of flush_some() after a failure: 5 s

// WAL with synchronous=NORMAL: a transaction is one append to the log without waiting for the
// disk; a power cut loses the last ones, never the database. Other programs may read meanwhile.
constexpr const char* kPragmas =
    "PRAGMA busy_timeout=200; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;";

// From now on, for a program that writes. Comes before all that writes.
Status wait_at_most(Database& database, int wait_ms) {
  return database.execute("PRAGMA busy_timeout=" + std::to_string(wait_ms));
}

Error damaged(const std::string& what) {
  return {ErrorCode::kCorrupt, "read the tracker's database",
          what + "; move the file away and start again: swarms come back as their peers announce"};
}

bool is_numeric(const std::string& ip) {
  in6_addr address;  // has room for both kinds
  return ::inet_pton(AF_INET, ip.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, ip.c_str(), &address) == 1;
}

// The file itself, so that trackers exclude one another, and no other program. SQLite's own locks
// are of another kind, and are lost if this descriptor is closed before the database.
Result<UniqueFd> lock_file(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (fd.get() < 0 && errno == ELOOP)
    return Error{ErrorCode::kExists, "open the database " + path,
                 "it is a symbolic link; name the folder in which the database is"};
  if (fd.get() < 0) return error_from_errno("open the database " + path, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) {
    Error error = error_from_errno("lock the database " + path, errno);
    if (error.code == ErrorCode::kUnsupported)
      error.detail += "; name a folder on a disk of this machine";
    return error;
  }
  return Error{ErrorCode::kExists, "open the database " + path, "another tracker uses it"};
}

}  // namespace

SqliteRegistry::SqliteRegistry(std::shared_ptr<File> file, Database database,
                               const RegistryLimits& limits, std::uint64_t seed)
    : limits_(limits),
      swarms_(
          limits,
          [this](const ContentId& content, const PeerId& peer) { peer_changed(content, peer); },
          seed),
      file_(std::move(file)),
      database_(std::move(database)) {}

SqliteRegistry::~SqliteRegistry() {
  (void)flush();
}

Result<std::unique_ptr<SqliteRegistry>> SqliteRegistry::open(const std::string& path, Time now,
                                                             const RegistryLimits& limits) {
  auto shards = open_shards(path, now, limits, 1);
  if (!shards) return shards.error();
  return std::move(shards->front());
}

Result<std::vector<std::unique_ptr<SqliteRegistry>>> SqliteRegistry::open_shards(
    const std::string& path, Time now, const RegistryLimits& limits, std::size_t shards,
    std::uint64_t seed) {
  const auto file = std::make_shared<File>(limits, shards);
  auto lock = lock_file(path);
  if (!lock) return lock.error();
  file->lock = std::move(lock).value();
  Shards opened;
  for (std::size_t shard = 0; shard < shards; ++shard) {
    auto database = Database::open(path);
    if (!database) return database.error();
    std::unique_ptr<SqliteRegistry> registry(new SqliteRegistry(
        file, std::move(database).value(), limits_of_shard(limits, shards), seed));
    const auto version = known_version(registry->database_, path);
    if (!version) return version.error();
    make_database_private(path);
    Status status = registry->database_.execute(kPragmas);
    if (status) status = make_schema(registry->database_, *version);
    if (status) status = registry->prepare();
    if (!status) return status.error();
    registry->shard_ = shard;
    registry->shards_ = shards;
    opened.push_back(std::move(registry));
  }
  Status status = opened.front()->load_peers(opened, now);
  if (status) status = opened.front()->load_manifests(opened);
  if (!status) return status.error();
  return opened;
}

Status SqliteRegistry::prepare() {
  const auto set = [this](Statement& statement, const char* sql) -> Status {
    auto prepared = database_.prepare(sql);
    if (!prepared) return prepared.error();
    statement = std::move(prepared).value();
    return Done{};
  };
  Status status = set(statements_.put_peer,
                      "INSERT INTO peer(content, id, ip, port, complete) VALUES(?, ?, ?, ?, ?) "
                      "ON CONFLICT DO UPDATE SET ip=excluded.ip, port=excluded.port, "
                      "complete=excluded.complete");
  if (status) status = set(statements_.remove_peer, "DELETE FROM peer WHERE content=? AND id=?");
  if (status)
    status = set(statements_.put_manifest,
                 "INSERT INTO manifest(number, content, signer, network, used, bytes) "
                 "VALUES(?, ?, ?, ?, ?, ?)");
  if (status)
    status = set(statements_.remove_manifest, "DELETE FROM manifest WHERE content=? AND signer=?");
  if (status)
    status =
        set(statements_.use_manifest, "UPDATE manifest SET used=? WHERE content=? AND signer=?");
  return status;
}

Status SqliteRegistry::load_peers(const Shards& shards, Time now) {
  auto query = database_.prepare("SELECT content, id, ip, port, complete FROM peer");
  if (!query) return query.error();
  for (;;) {
    const auto row = query->step();
    if (!row) return row.error();
    if (!*row) return Done{};
    const auto content = ContentId::from_bytes(query->bytes(0));
    const auto id = PeerId::from_bytes(query->bytes(1));
    const std::int64_t port = query->integer(3);
    const std::string ip(query->bytes(2));
    if (!content || !id || port < 0 || port > 0xffff || !is_numeric(ip))
      return damaged("a peer makes no sense");
    const Peer peer{{*id, ip, static_cast<std::uint16_t>(port)}, query->integer(4) != 0};
    // Limits may be lower than they were: those that are not admitted leave the database too.
    SqliteRegistry& shard = *shards[shard_of(*content, shards.size())];
    if (shard.swarms_.announce(*content, pack(peer), now) != AnnounceOutcome::kKept)
      shard.peer_changed(*content, *id);
  }
}

Status SqliteRegistry::load_manifests(const Shards& shards) {
  auto query = database_.prepare(
      "SELECT number, content, used, length(bytes), network, signer FROM manifest ORDER BY number");
  if (!query) return query.error();
  std::vector<std::pair<std::int64_t, Envelope>> by_use;
  for (;;) {
    const auto row = query->step();
    if (!row) return row.error();
    if (!*row) break;
    const auto content = ContentId::from_bytes(query->bytes(1));
    const auto signer = PublicKey::from_bytes(query->bytes(5));
    if (!content || !signer) return damaged("a manifest has no content id or no signer");
    const Envelope envelope(*content, *signer);
    file_->shelf.add(envelope, std::string(query->bytes(4)),
                     static_cast<std::uint64_t>(query->integer(3)));
    shards[shard_of(*content, shards.size())]->rows_.add(envelope, query->integer(0));
    by_use.emplace_back(query->integer(2), envelope);
    file_->last_row = std::max(file_->last_row, query->integer(0));
    file_->last_use = std::max(file_->last_use, query->integer(2));
  }
  std::ranges::sort(by_use);
  for (const auto& [use, envelope] : by_use) file_->shelf.use(envelope);
  return Done{};
}

void SqliteRegistry::peer_changed(const ContentId& content, const PeerId& peer) {
  if (rewrite_peers_) return;
  changed_peers_.insert({content, peer});
  if (changed_peers_.size() <= limits_.peer_count_max) return;
  rewrite_peers_ = true;
  changed_peers_.clear();
}

AnnounceOutcome SqliteRegistry::announce(const ContentId& content, const PackedPeer& peer,
                                         Time now) {
  bool changed = false;
  const AnnounceOutcome outcome = swarms_.announce(content, peer, now, &changed);
  if (changed) peer_changed(content, peer.endpoint.id);
  return outcome;
}

void SqliteRegistry::leave(const ContentId& content, const PeerId& peer) {
  if (swarms_.leave(content, peer)) peer_changed(content, peer);
}

void SqliteRegistry::expire(Time before) {
  swarms_.expire(before);
}

SwarmCounts SqliteRegistry::counts(const ContentId& content) const {
  return swarms_.counts(content);
}

void SqliteRegistry::sample(const ContentId& content, const SampleRequest& request, Random& random,
                            Endpoints& into) const {
  swarms_.sample(content, request, random, into);
}

std::vector<Envelope> SqliteRegistry::hosted_manifests() const {
  return rows_.all();
}

std::optional<Hosted> SqliteRegistry::hosted(const Envelope& envelope) const {
  const std::lock_guard lock(file_->shelf_mutex);
  return file_->shelf.hosted(envelope);
}

// Every transaction also carries what waits to be written, of peers up to `peers_max`.
template <typename Work>
Status SqliteRegistry::transaction(std::size_t peers_max, int wait_ms, Work work) {
  Status status = wait_at_most(database_, wait_ms);
  if (status) status = database_.execute("BEGIN IMMEDIATE");
  if (!status) return status;
  status = write_changes(peers_max);
  if (status) status = work();
  if (status) status = database_.execute("COMMIT");
  if (status) {
    const auto written = static_cast<std::ptrdiff_t>(std::min(peers_max, changed_peers_.size()));
    changed_peers_.erase(changed_peers_.begin(), std::next(changed_peers_.begin(), written));
    rewrite_peers_ = false;
    changed_uses_.clear();
    unflushed_.reset();
    calls_to_pass_ = 0;
  } else {
    (void)database_.execute("ROLLBACK");
  }
  return status;
}

// With the turn nobody else puts a manifest on the shelf, or takes one from it.
Status SqliteRegistry::put_manifest(const ContentId& content, const std::string& prefix,
                                    std::string_view bytes) {
  const Envelope envelope(content, manifest_signer(bytes));
  forget_gone();
  if (hosts(envelope)) return Done{};
  const std::lock_guard turn(file_->turn);
  std::unique_lock lock(file_->shelf_mutex);
  ManifestShelf& shelf = file_->shelf;
  if (!shelf.fits(bytes.size())) return manifest_too_large(content, bytes.size());
  const std::vector<Envelope> leaving = shelf.in_the_way_of(envelope, prefix, bytes.size());
  const std::int64_t use = ++file_->last_use;
  lock.unlock();  // others read meanwhile
  const std::int64_t row = file_->last_row + 1;
  const Status kept = transaction(kAllPeers, unless_unflushed(kWaitMs), [&]() -> Status {
    for (const Envelope& one : leaving)
      if (Status status = drop_manifest(one); !status) return status;
    return statements_.put_manifest.bind(1, row)
        .bind_bytes(2, content.raw())
        .bind_bytes(3, envelope.signer.raw())
        .bind_text(4, prefix)
        .bind(5, use)
        .bind_bytes(6, bytes)
        .run();
  });
  if (!kept) return kept;
  file_->last_row = row;
  lock.lock();
  for (const Envelope& one : leaving) {
    shelf.remove(one);
    file_->gone[shard_of(one.content, shards_)].push_back(one);
  }
  shelf.add(envelope, prefix, bytes.size());
  lock.unlock();
  forget_gone();  // its own
  rows_.add(envelope, row);
  return Done{};
}

// Where there is none nothing is to be written, and nobody is waited for.
Status SqliteRegistry::remove_manifest(const Envelope& envelope) {
  forget_gone();
  if (!hosts(envelope)) return Done{};
  const std::lock_guard turn(file_->turn);
  return remove_in_turn(envelope);
}

Status SqliteRegistry::remove_in_turn(const Envelope& envelope) {
  Status removed = wait_at_most(database_, unless_unflushed(kWaitMs));
  if (removed) removed = drop_manifest(envelope);
  if (removed) forget_manifest(envelope);
  return removed;
}

Status SqliteRegistry::drop_manifest(const Envelope& envelope) {
  return statements_.remove_manifest.bind_bytes(1, envelope.content.raw())
      .bind_bytes(2, envelope.signer.raw())
      .run();
}

void SqliteRegistry::forget_manifest(const Envelope& envelope) {
  const std::lock_guard lock(file_->shelf_mutex);
  file_->shelf.remove(envelope);
  rows_.remove(envelope);
  changed_uses_.erase(envelope);
}

void SqliteRegistry::forget_gone() {
  const std::lock_guard lock(file_->shelf_mutex);
  for (const Envelope& envelope : std::exchange(file_->gone[shard_], {})) {
    rows_.remove(envelope);
    changed_uses_.erase(envelope);
  }
}

Result<proto::ManifestPart> SqliteRegistry::manifest_part(const Envelope& envelope,
                                                          std::uint64_t offset,
                                                          std::size_t bytes_max,
                                                          ManifestReading reading) {
  forget_gone();
  const auto row = rows_.find(envelope);
  if (!row) return proto::ManifestPart{};
  std::unique_lock lock(file_->shelf_mutex);
  const auto there = file_->shelf.hosted(envelope);
  if (!there) return proto::ManifestPart{};  // it has just gone
  const std::uint64_t total = there->bytes;
  if (reading == ManifestReading::kUse) {
    file_->shelf.use(envelope);
    changed_uses_[envelope] = ++file_->last_use;
  }
  lock.unlock();
  const std::uint64_t from = std::min(offset, total);
  auto data =
      database_.read_blob("manifest", *row, from, std::min<std::uint64_t>(bytes_max, total - from));
  if (data) return proto::ManifestPart{total, from, std::move(data).value()};
  const std::lock_guard turn(file_->turn);  // the shard that dropped it has said so then
  forget_gone();
  if (!hosts(envelope)) return proto::ManifestPart{};
  // A peer that has it may upload it again.
  if (data.error().code == ErrorCode::kCorrupt) (void)remove_in_turn(envelope);
  return data.error();
}

// At the end: nothing writes later what is not written now.
Status SqliteRegistry::flush() {
  const std::lock_guard turn(file_->turn);
  return write_in_turn(kAllPeers, kWaitMs);
}

Status SqliteRegistry::flush_some() {
  forget_gone();
  if (calls_to_pass_ > 0) {
    --calls_to_pass_;
    return *unflushed_;
  }
  // While another shard writes, announces are not to wait: the next call writes this one's.
  const std::unique_lock turn(file_->turn, std::try_to_lock);
  if (!turn.owns_lock()) return unflushed_ ? Status(*unflushed_) : Done{};
  Status written = write_in_turn(std::max(kPeersAtOnce, changed_peers_.size() / 4),
                                 unless_unflushed(kFlushWaitMs));
  if (written) return written;
  unflushed_ = written.error();
  calls_to_pass_ = kCallsPassed;
  return written;
}

Status SqliteRegistry::write_in_turn(std::size_t peers_max, int wait_ms) {
  if (changed_peers_.empty() && !rewrite_peers_ && changed_uses_.empty()) return Done{};
  return transaction(peers_max, wait_ms, []() -> Status { return Done{}; });
}

Status SqliteRegistry::put_peer(const ContentId& content, const PackedPeer& packed) {
  const Peer peer = unpack(packed);
  return statements_.put_peer.bind_bytes(1, content.raw())
      .bind_bytes(2, peer.endpoint.id.raw())
      .bind_text(3, peer.endpoint.ip)
      .bind(4, peer.endpoint.port)
      .bind(5, peer.complete ? 1 : 0)
      .run();
}

// Those of other shards stay.
Status SqliteRegistry::remove_all_peers() {
  if (shards_ == 1) return database_.execute("DELETE FROM peer");
  std::vector<ContentId> own;
  auto contents = database_.prepare("SELECT DISTINCT content FROM peer");
  if (!contents) return contents.error();
  for (;;) {
    const auto row = contents->step();
    if (!row) return row.error();
    if (!*row) break;
    const auto content = ContentId::from_bytes(contents->bytes(0));
    if (content && shard_of(*content, shards_) == shard_) own.push_back(*content);
  }
  auto remove = database_.prepare("DELETE FROM peer WHERE content=?");
  if (!remove) return remove.error();
  for (const ContentId& content : own)
    if (Status removed = remove->bind_bytes(1, content.raw()).run(); !removed) return removed;
  return Done{};
}

Status SqliteRegistry::write_changes(std::size_t peers_max) {
  Status status = Done{};
  if (rewrite_peers_) {
    status = remove_all_peers();
    swarms_.for_each([&](const ContentId& content, const PackedPeer& peer) {
      if (status) status = put_peer(content, peer);
    });
  }
  for (const auto& [content, id] : changed_peers_) {
    if (!status) return status;
    if (peers_max-- == 0) break;
    const PackedPeer* peer = swarms_.find(content, id);
    status =
        peer != nullptr
            ? put_peer(content, *peer)
            : statements_.remove_peer.bind_bytes(1, content.raw()).bind_bytes(2, id.raw()).run();
  }
  if (!status) return status;
  for (const auto& [envelope, used] : changed_uses_) {
    status = statements_.use_manifest.bind(1, used)
                 .bind_bytes(2, envelope.content.raw())
                 .bind_bytes(3, envelope.signer.raw())
                 .run();
    if (!status) return status;
  }
  return Done{};
}

}  // namespace firn::tracker
