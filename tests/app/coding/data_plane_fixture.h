// A content on disk, its store, and a data plane over it whose outcomes are written down: what the
// tests of the data plane share.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "client/app/coding/data_plane.h"
#include "client/content/create.h"
#include "codec/encode.h"
#include "codec/random.h"
#include "tests/app/coding/wake_up.h"
#include "tests/app/temp_folder.h"

namespace firn::tests {

inline std::string random_text(std::size_t bytes, std::uint64_t seed) {
  std::string text(bytes, '\0');
  codec::CoefficientStream random(seed, 0);
  random.fill({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  return text;
}

// A store that passes everything on, and fails as told.
class MoodyStore final : public store::ContentStore {
 public:
  explicit MoodyStore(std::unique_ptr<ContentStore> real) : real_(std::move(real)) {}

  std::atomic<int> write_failures = 0;  // the next writes that fail, with kDiskFull
  std::atomic<int> drop_failures = 0;   // likewise of drops
  std::atomic<int> mark_failures = 0;   // likewise of marks
  std::atomic<int> read_failures = 0;   // the next reads of generations that fail
  std::atomic<ErrorCode> read_failure = ErrorCode::kIo;
  std::atomic<int> rows_written = 0, rows_marked = 0, rows_read = 0, generations_read = 0,
                   syncs = 0, generations_written = 0;

  bool verify_generation(std::uint32_t g, std::span<const std::uint8_t> data) const override {
    return real_->verify_generation(g, data);
  }
  Status write_generation(std::uint32_t g, std::span<const std::uint8_t> data) override {
    if (out_of_space()) return full();
    ++generations_written;
    return real_->write_generation(g, data);
  }
  Status read_generation(std::uint32_t g, std::span<std::uint8_t> out) const override {
    auto& counters = const_cast<MoodyStore&>(*this);
    ++counters.generations_read;
    if (counters.read_failures > 0 && counters.read_failures-- > 0)
      return Error{read_failure, "read", "made to fail"};
    return real_->read_generation(g, out);
  }
  Status write_row(const store::SpooledRow& row, std::span<const std::uint8_t> payload) override {
    if (out_of_space()) return full();
    ++rows_written;
    return real_->write_row(row, payload);
  }
  Result<bool> set_proven(std::uint32_t g, std::uint32_t slot, bool proven) override {
    if (mark_failures > 0 && mark_failures-- > 0) return full();
    Result<bool> marked = real_->set_proven(g, slot, proven);
    rows_marked += marked.ok() && *marked;
    return marked;
  }
  Status read_row(std::uint32_t g, std::uint32_t slot, std::span<std::uint8_t> out) const override {
    ++const_cast<MoodyStore*>(this)->rows_read;
    return real_->read_row(g, slot, out);
  }
  Status drop_rows(std::uint32_t g) override {
    if (drop_failures > 0 && drop_failures-- > 0) return full();
    return real_->drop_rows(g);
  }
  std::shared_future<void> sync_gate;  // if valid, syncs wait for it
  Status sync() override {
    ++syncs;
    if (sync_gate.valid()) sync_gate.wait();
    return real_->sync();
  }
  std::atomic<int> choices = 0;
  std::string choice_warning;  // of the next choice
  Status choose(std::vector<bool> chosen) override {
    ++choices;
    return real_->choose(std::move(chosen));
  }
  std::shared_future<void> finish_gate;  // if valid, finishes wait for it
  Result<bool> finish() override {
    if (finish_gate.valid()) finish_gate.wait();
    return real_->finish();
  }
  bool lose_generation(std::uint32_t g) override { return real_->lose_generation(g); }
  bool may_be_right_again(std::uint32_t g) const override { return real_->may_be_right_again(g); }
  void regain_generation(std::uint32_t g) override { real_->regain_generation(g); }
  std::vector<std::uint32_t> take_lost() override { return real_->take_lost(); }
  std::string take_warning() override {
    return choices == 0 ? real_->take_warning() : std::exchange(choice_warning, {});
  }
  const Manifest& manifest() const override { return real_->manifest(); }

 private:
  bool out_of_space() { return write_failures > 0 && write_failures-- > 0; }
  static Error full() { return {ErrorCode::kDiskFull, "write", "No space left on device"}; }
  const std::unique_ptr<ContentStore> real_;
};

struct Outcomes final : app::CodingOutcomes {
  std::set<std::pair<std::uint32_t, std::uint32_t>> stored;
  std::map<std::uint32_t, core::DecodeOutcome> decoded, fetched;
  std::map<std::uint32_t, app::RowVerdict> judged;
  std::map<std::uint32_t, proto::CheckReply> checks;
  std::map<std::uint32_t, std::vector<Digest>> leaves;
  std::map<std::uint64_t, proto::Payload> made;
  std::map<std::uint64_t, std::vector<std::uint8_t>> exchanged;  // vectors chosen below the core
  std::vector<std::uint32_t> lost, wanted_again, regained;
  int paused = 0, resumed = 0, warnings = 0;
  bool now_paused = false;
  bool finished = false, spoiled = false;

  void row_stored(std::uint32_t g, std::uint32_t slot) override {
    CHECK(stored.emplace(g, slot).second);  // once
  }
  void generation_decoded(std::uint32_t g, core::DecodeOutcome outcome) override {
    decoded[g] = outcome;
  }
  void generation_fetched(std::uint32_t g, core::DecodeOutcome outcome) override {
    CHECK(fetched.emplace(g, outcome).second);
  }
  void rows_judged(std::uint32_t g, const app::RowVerdict& verdict) override {
    judged[g] = verdict;
  }
  void check_made(core::PeerKey, proto::CheckReply reply) override {
    checks[reply.generation] = std::move(reply);
  }
  void leaves_made(core::PeerKey, proto::LeafReply reply) override {
    leaves[reply.generation] = std::move(reply.leaves);
  }
  void block_made(std::uint64_t ticket, proto::Payload payload) override {
    CHECK(made.emplace(ticket, std::move(payload)).second);
  }
  void exchanged_block_made(std::uint64_t ticket, std::vector<std::uint8_t> vector,
                            proto::Payload payload) override {
    CHECK(made.emplace(ticket, std::move(payload)).second);
    exchanged[ticket] = std::move(vector);
  }
  void generation_lost(std::uint32_t g, const Error&, bool fetch_again) override {
    (fetch_again ? wanted_again : lost).push_back(g);
  }
  void generation_regained(std::uint32_t g) override { regained.push_back(g); }
  void store_warning(const std::string& text) override {
    MESSAGE(text);
    ++warnings;
  }
  void store_paused(const Error& error) override {
    CHECK(error.code == ErrorCode::kDiskFull);
    if (!std::exchange(now_paused, true)) ++paused;
  }
  void store_resumed() override {
    ++resumed;
    now_paused = false;
  }
  void store_finished() override { finished = true; }
  void store_spoiled(const Error& error) override {
    CHECK(error.code == ErrorCode::kCorrupt);
    spoiled = true;
  }
};

class DataPlaneFixture {
 public:
  static constexpr std::uint32_t kN = 8;
  static constexpr std::uint32_t kK = 1000;
  static constexpr std::uint32_t kGenerations = 3;

  // Generations have kN blocks each, the last one of them not full; fewer where `text_bytes` ends.
  explicit DataPlaneFixture(std::size_t row_bytes_max = 1 << 20,
                            std::size_t cache_bytes_max = 1 << 20,
                            std::size_t text_bytes = kN * kK * kGenerations - 766)
      : cache(cache_bytes_max),
        text(random_text(text_bytes, 7)),
        pool({.threads = 2, .task_count_max = 64}, [this] { wake_up_.wake(); }) {
    std::ofstream(folder.path() + "/file", std::ios::binary) << text;
    content::CreateOptions options;
    options.generation_size = kN;
    options.block_bytes = kK;
    auto made = content::create_manifest(folder.path() + "/file", options);
    REQUIRE(made.ok());
    manifest = *std::move(made);
    REQUIRE(manifest.info.shape.generation_count() == kGenerations);
    padded = text;
    padded.resize(kN * kK * kGenerations, '\0');
    open(row_bytes_max);
  }

  // The same on every machine.
  static store::OpenOptions options() { return {.fingerprinting = store::Fingerprinting::kAlways}; }
  // Opens (again) for downloading.
  void open(std::size_t row_bytes_max) {
    plane.reset();
    store.reset();
    resumed = {};
    auto opened = store::ContentStore::open_download(manifest, target(), options(), resumed);
    REQUIRE(opened.ok());
    store = std::make_shared<MoodyStore>(*std::move(opened));
    std::vector<std::uint32_t> with_rows;
    for (const auto& row : resumed.rows) with_rows.push_back(row.generation);
    plane = std::make_unique<app::DataPlane>(
        app::CodingResources{pool, buffers, cache, codec::kernels(), budget, coder.get(), 0,
                             stock_bytes},
        0, store, row_bytes_max, with_rows, outcomes);
  }
  // Opens the finished original for serving.
  void serve() {
    plane.reset();
    auto opened = store::ContentStore::open_complete(manifest, folder.path(), options());
    REQUIRE(opened.ok());
    store = std::make_shared<MoodyStore>(*std::move(opened));
    plane = std::make_unique<app::DataPlane>(
        app::CodingResources{pool, buffers, cache, codec::kernels(), budget, coder.get(), 0,
                             stock_bytes},
        0, store, 1 << 20, std::vector<std::uint32_t>{}, outcomes);
  }
  // From the next open() or serve() on, jobs may use `device`; for what it cannot do there is a
  // spare. Both are the coder's.
  void use_device(std::unique_ptr<codec::Backend> device, std::unique_ptr<codec::Backend> spare,
                  const app::BatchCoder::Options& options = {}) {
    plane.reset();
    const auto make = [&](codec::SharedBackend::Dropped dropped) {
      std::vector<std::unique_ptr<codec::Backend>> devices;
      devices.push_back(std::move(device));
      return std::make_unique<codec::SharedBackend>(std::move(devices), std::move(spare),
                                                    codec::SharedBackend::Policy::kDevices,
                                                    std::move(dropped));
    };
    coder = std::make_unique<app::BatchCoder>(
        options, buffers, make,
        [this](const std::string& name, const std::string& why) {
          dropped_devices.push_back(name + ": " + why);
        },
        [this] { wake_up_.wake(); });
  }
  std::string target() const { return folder.path() + "/target"; }
  std::uint32_t blocks_in(std::uint32_t g) const { return manifest.info.shape.blocks_in(g); }

  std::vector<std::uint8_t> combination(std::uint32_t g, const std::vector<std::uint8_t>& vector) {
    std::vector<const std::uint8_t*> blocks;
    for (std::uint32_t i = 0; i < blocks_in(g); ++i)
      blocks.push_back(reinterpret_cast<const std::uint8_t*>(padded.data()) + (g * kN + i) * kK);
    std::vector<std::uint8_t> out(kK);
    codec::kernels().combine(out.data(), blocks.data(), vector.data(), blocks.size(), kK);
    return out;
  }
  // A coded row of generation g; `sender` number, its payload false if `lie`.
  core::StoreRow row(std::uint32_t g, std::uint32_t slot, std::uint8_t sender, bool lie = false) {
    core::StoreRow row;
    row.generation = g;
    row.slot = slot;
    const auto vector = codec::random_vector(blocks_in(g), random);
    row.vector = std::make_shared<const std::vector<std::uint8_t>>(vector);
    row.sender.bytes.fill(sender);
    auto payload = combination(g, vector);
    if (lie) payload[slot] ^= 1;
    row.payload = proto::Payload::copy_of(payload);
    return row;
  }
  // Stores n rows; those of slots in `lies` are false, and sent by sender 100 + slot. The vectors.
  std::vector<core::Vector> fill(std::uint32_t g, const std::set<std::uint32_t>& lies = {}) {
    std::vector<core::Vector> vectors;
    for (std::uint32_t slot = 0; slot < blocks_in(g); ++slot) {
      const bool lie = lies.contains(slot);
      const auto stored = row(g, slot, static_cast<std::uint8_t>(lie ? 100 + slot : slot), lie);
      vectors.push_back(stored.vector);
      plane->store_row(stored, now);
    }
    return vectors;
  }

  // A coded block of g, to be made.
  core::SendBlock dense(std::uint32_t g, bool exchangeable = true) {
    core::SendBlock send;
    send.block.generation = g;
    send.block.coefficients = codec::random_vector(kN, random);
    send.exchangeable = exchangeable;
    return send;
  }
  // Brings a generation's source blocks into memory.
  void load(std::uint32_t g) {
    plane->send_block(1'000'000 + g, dense(g, false), now);
    settle();
  }
  // The block that this ticket was answered with is what its vector, chosen below the core, says.
  void check_exchanged(std::uint64_t ticket, std::uint32_t g) {
    REQUIRE(outcomes.made.contains(ticket));
    const auto payload = outcomes.made.at(ticket).bytes();
    CHECK(std::vector<std::uint8_t>(payload.begin(), payload.end()) ==
          combination(g, outcomes.exchanged.at(ticket)));
  }

  // Until no task is under way. Time stands still.
  void settle() {
    plane->flush();
    while (pool.task_count() > 0 || (coder && coder->task_count() > 0)) {
      wake_up_.wait();
      pool.run_completions();
      if (coder) coder->run_completions();
      plane->flush();
    }
  }
  // Lets time pass, then settles.
  void pass(core::TimeUs time) {
    now += time;
    plane->wake(now);
    settle();
  }

  std::size_t stock_bytes = 1 << 20;  // from the next open() or serve() on
  app::GenerationCache cache;
  TempFolder folder;
  std::string text, padded;
  Manifest manifest;
  core::TimeUs now = core::kSecond;
  Outcomes outcomes;
  app::BufferPool buffers{1 << 20};
  app::LoopBudget budget;
  store::Resumed resumed;
  std::shared_ptr<MoodyStore> store;
  codec::CoefficientStream random{1, 2};
  std::vector<std::string> dropped_devices;

 private:
  WakeUp wake_up_;

 public:
  app::WorkerPool pool;  // after what its threads touch
  std::unique_ptr<app::BatchCoder> coder;
  std::unique_ptr<app::DataPlane> plane;
};

// Its source blocks in a generation.
inline constexpr std::uint32_t kN = DataPlaneFixture::kN;

inline std::vector<std::uint8_t> bytes_of(const proto::Payload& payload) {
  return {payload.bytes().begin(), payload.bytes().end()};
}

}  // namespace firn::tests
