// Fetches runs of generations from a content's origins.
//
//   FetchFromOrigin --> a run at one origin --> pieces of files --> transfers
//       bytes in order, generation by generation --> compared and written --> answered in order
//
// Which origin: of those that can be asked now the one with the fewest runs under way, so that a
// slow one holds nothing up; of equals one that has not just failed, then the quicker one, then the
// next in turn. If a run fails, its remaining generations are answered as failed, and the core asks
// for them again, perhaps at another origin. An origin is not asked for generations of a file that
// it does not have, or of another one in its place.
//
// How many transfers at a time: at most kTransfersMax to an origin, bounded further as TCP bounds
// its window. If the origin refuses a transfer, the bound falls to the number of those that go on;
// if the origin rests, to one. Each transfer that ends well raises it by one. If a transfer ends
// early, the rest of its piece is asked for: some servers and proxies cut each connection after
// fewer bytes than a generation has.
//
// Memory: at most kRoomBytes, or two generations, of a run are being filled or written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/app/origin/origin_choice.h"
#include "client/app/origin/origin_health.h"
#include "client/app/origin/origin_pieces.h"
#include "client/app/origin/origin_plan.h"
#include "client/app/origin/run_bytes.h"
#include "client/app/origin/transfers.h"
#include "client/core/base/actions.h"
#include "client/core/base/types.h"
#include "client/core/rows/generation_set.h"
#include "proto/content/manifest.h"

namespace firn::app {

// What OriginRuns asks of its owner, on the main thread, within calls of OriginRuns' own members.
class OriginEvents {
 public:
  virtual ~OriginEvents() = default;
  // A buffer for padded_bytes of a generation.
  virtual std::shared_ptr<Buffer> take_buffer(std::uint32_t generation) = 0;
  // The generation has come; the owner answers with OriginRuns::written().
  virtual void came(std::uint32_t generation, std::shared_ptr<Buffer> data) = 0;
  // Whether the content still lacks this generation.
  virtual bool wants(std::uint32_t generation) const = 0;
  // Once for each generation of a run, in order.
  virtual void answer(std::uint32_t generation, bool verified) = 0;
  // True: some origin can be asked from now on; false: none can, as before the first call.
  virtual void open(bool open) = 0;
  // All generations that no origin has, as far as is known now.
  virtual void lack(const core::GenerationSet& lacking) = 0;
  virtual void say(bool warning, const std::string& text) = 0;
  virtual void debug(const std::string& text) = 0;
};

// Main thread.
class OriginRuns {
 public:
  static constexpr std::size_t kTransfersMax = 8;          // to one origin
  static constexpr std::size_t kPiecesMax = 4;             // under way in a run
  static constexpr std::uint64_t kRoomBytes = 4ULL << 20;  // for a run
  // Bytes per second: a transfer that ends early and was slower counts as failed.
  static constexpr std::uint64_t kSlow = 2048;

  // `info` outlives this. Any thread calls `wake` when step() is due.
  OriginRuns(std::vector<Origin> origins, const Info& info, std::shared_ptr<Transfers> transfers,
             std::function<void()> wake, OriginEvents& events);
  // Cancels all transfers; answers nothing.
  ~OriginRuns();
  OriginRuns(const OriginRuns&) = delete;
  OriginRuns& operator=(const OriginRuns&) = delete;

  void fetch(const core::FetchFromOrigin& asked, core::TimeUs now);
  // The answer to came(); the caller then calls step().
  void written(std::uint32_t generation, core::DecodeOutcome outcome);
  // While the store takes nothing, nothing is taken from the network.
  void pause(bool paused);
  void step(core::TimeUs now);
  core::TimeUs next_wake() const;

  std::vector<OriginFigures> figures() const;
  // When the last bytes came that are kept; 0: none have come.
  core::TimeUs progressed_at() const { return progressed_at_; }
  // Why nothing comes, for people: a line for each origin that is being asked or cannot be asked.
  std::vector<std::string> standing() const;

 private:
  struct Asked {
    Asked(Origin given, std::uint32_t generations)
        : origin(std::move(given)), shown(origin.url.shown()), lacks(generations) {}
    bool can_be_asked(core::TimeUs now) const { return health.well(now) && !lacks.full(); }
    const Origin origin;
    const std::string shown;
    OriginHealth health;
    std::set<std::uint32_t> bad_files;  // that it lacks, or has others in place of
    core::GenerationSet lacks;          // those that it is not asked for
    std::uint64_t bytes = 0;  // of the content, verified, that peers had not brought before
    std::size_t transfers = 0, transfers_max = kTransfersMax;
    std::uint64_t ended_well = 0;  // transfers
    core::TimeUs pace = 0;         // time for a generation in its last run; 0: not known
    std::unordered_map<std::uint32_t, std::string> validators;  // by file
  };
  struct Piece {
    OriginPiece what;      // the part still to come
    std::uint64_t id = 0;  // of its transfer; 0: none is under way
    std::uint64_t ended_well_before = 0;
    core::TimeUs began = 0;
    std::shared_ptr<PieceSink> sink = nullptr;
  };
  struct Failure {
    Piece piece;  // the part still to come
    std::uint64_t taken = 0;
    TransferEnd end;
  };
  struct Run {
    std::uint32_t first = 0, count = 0;
    std::size_t origin = 0;
    core::TimeUs began = 0;
    std::vector<Piece> pieces;  // those not complete, in order
    std::shared_ptr<RunBytes> bytes;
    std::uint64_t received = 0;                                // bytes, at the last look
    std::uint32_t handed = 0;                                  // generations given to came()
    std::uint32_t answered = 0;                                // generations
    std::vector<std::optional<core::DecodeOutcome>> outcomes;  // as written() said
    bool failed = false;
    bool over() const { return answered == count && pieces.empty(); }
  };

  std::optional<std::size_t> choose(std::uint32_t generation, core::TimeUs now);
  void look(Run& run, core::TimeUs now);
  void take_news(Run& run, core::TimeUs now);
  bool has_ended(const Run& run, Piece& piece, std::vector<Failure>& failures);
  void transfer_failed(Run& run, const Failure& failure, core::TimeUs now);
  void file_failed(const Run& run, std::uint32_t file, const Error& why, core::TimeUs now);
  void tell_lacking();
  bool asks_for_less(Run& run, const Piece& refused);
  void make_way(Run& run, const Piece& piece);
  void fail(Run& run);
  void cancel(Run& run);
  void hand_over(Run& run);
  void go_on(Run& run, core::TimeUs now);
  void ask(Run& run, core::TimeUs now);
  void begin(Run& run, Piece& piece, core::TimeUs now);
  void answer(Run& run, core::TimeUs now);
  void note_outcome(Run& run, std::uint32_t generation, core::DecodeOutcome outcome,
                    core::TimeUs now);
  void warn(const std::string& text);
  void look_whether_open(core::TimeUs now);

  const Info& info_;
  const std::shared_ptr<Transfers> transfers_;
  const std::function<void()> wake_;
  OriginEvents& events_;
  std::vector<Asked> origins_;
  std::size_t next_origin_ = 0;
  std::vector<std::unique_ptr<Run>> runs_;
  bool open_ = false;
  bool paused_ = false;
  core::TimeUs progressed_at_ = 0;
};

}  // namespace firn::app
