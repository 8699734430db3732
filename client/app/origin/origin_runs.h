// Fetches runs of generations from a content's origins.
//
//   FetchFromOrigin --> a run at one origin --> pieces of files --> transfers
//       bytes in order, generation by generation --> compared and written -->
//       answered in order
//
// Of the origins that are well the one with the fewest runs under way is asked,
// so that a slow one keeps none waiting; else one that has not just failed, or
// was quicker, or the next in turn. A run that fails is answered as failed from
// there on: the core asks for the rest once more, perhaps of another origin.
// What one origin is asked at a time is bounded by what it bears, kTransfersMax
// at most. As with TCP's window, the bound falls to what goes on when a
// transfer is refused, to one when the origin rests, and rises with each that
// ends well. Where a transfer ends early the rest of its piece is asked for:
// some servers, and what stands between, cut each connection after fewer bytes
// than a generation has.
//
// Memory: of a run at most kRoomBytes, or two generations, are being filled or
// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
#include "proto/content/manifest.h"

namespace firn::app {

// What OriginRuns wants done; called on the main thread from within its
// members.
class OriginEvents {
public:
  virtual ~OriginEvents() = default;
  // A buffer for padded_bytes of a generation.
  virtual std::shared_ptr<Buffer> take_buffer(std::uint32_t generation) = 0;
  // It has come; what becomes of it is said with OriginRuns::written().
  virtual void came(std::uint32_t generation, std::shared_ptr<Buffer> data) = 0;
  // Whether it is still to be fetched, wherever from.
  virtual bool wants(std::uint32_t generation) const = 0;
  // One for each generation of a run, in order.
  virtual void answer(std::uint32_t generation, bool verified) = 0;
  // Origins can be asked from now on, or none can. At first none can.
  virtual void open(bool open) = 0;
  virtual void say(bool warning, const std::string &text) = 0;
  virtual void debug(const std::string &text) = 0;
};

// Main thread.
class OriginRuns {
public:
  static constexpr std::size_t kTransfersMax = 8;         // of one origin
  static constexpr std::size_t kPiecesMax = 4;            // of a run at a time
  static constexpr std::uint64_t kRoomBytes = 4ULL << 20; // of a run
  // A transfer that ends early and brought fewer bytes per second does not go
  // on.
  static constexpr std::uint64_t kSlow = 2048;

  // `info` outlives this. `wake` is called by any thread: step() is due.
  OriginRuns(std::vector<Origin> origins, const Info &info,
             std::shared_ptr<Transfers> transfers, std::function<void()> wake,
             OriginEvents &events);
  // Cancels what is under way; nothing is answered any more.
  ~OriginRuns();
  OriginRuns(const OriginRuns &) = delete;
  OriginRuns &operator=(const OriginRuns &) = delete;

  void fetch(const core::FetchFromOrigin &asked, core::TimeUs now);
  // The answer to came(); step() is to follow.
  void written(std::uint32_t generation, core::DecodeOutcome outcome);
  // The store takes nothing for now: nothing more is taken from the network
  // either.
  void pause(bool paused);
  void step(core::TimeUs now);
  core::TimeUs next_wake() const;

  std::vector<OriginFigures> figures() const;
  // When bytes that are kept came last; 0: none have.
  core::TimeUs progressed_at() const { return progressed_at_; }
  // What is to be said if nothing comes; a line for each origin that is asked,
  // or cannot be.
  std::vector<std::string> standing() const;

private:
  struct Asked {
    Asked(Origin given) : origin(std::move(given)), shown(origin.url.shown()) {}
    const Origin origin;
    const std::string shown;
    OriginHealth health;
    std::uint64_t bytes =
        0; // content bytes, verified, that peers had not brought before
    std::size_t transfers = 0, transfers_max = kTransfersMax;
    std::uint64_t ended_well = 0; // transfers
    core::TimeUs pace =
        0; // time for a generation in its last run; 0: not known
    std::unordered_map<std::uint32_t, std::string> validators; // by file
  };
  struct Piece {
    OriginPiece what;     // what is left of it
    std::uint64_t id = 0; // of its transfer; 0: none is under way
    std::uint64_t ended_well_before = 0;
    core::TimeUs began = 0;
    std::shared_ptr<PieceSink> sink = nullptr;
  };
  struct Failure {
    Piece piece; // what is left of it
    std::uint64_t taken = 0;
    TransferEnd end;
  };
  struct Run {
    std::uint32_t first = 0, count = 0;
    std::size_t origin = 0;
    core::TimeUs began = 0;
    std::vector<Piece> pieces; // that have not ended, in order
    std::shared_ptr<RunBytes> bytes;
    std::uint64_t received = 0; // when it was last looked at
    std::uint32_t handed = 0;   // generations that have come
    std::uint32_t answered = 0;
    std::vector<std::optional<core::DecodeOutcome>>
        outcomes; // of those handed over
    bool failed = false;
    bool over() const { return answered == count && pieces.empty(); }
  };

  std::optional<std::size_t> choose(core::TimeUs now);
  void look(Run &run, core::TimeUs now);
  void take_news(Run &run, core::TimeUs now);
  bool has_ended(const Run &run, Piece &piece, std::vector<Failure> &failures);
  void transfer_failed(Run &run, const Failure &failure, core::TimeUs now);
  bool asks_for_less(Run &run, const Piece &refused);
  void make_way(Run &run, const Piece &piece);
  void fail(Run &run);
  void cancel(Run &run);
  void hand_over(Run &run);
  void go_on(Run &run, core::TimeUs now);
  void ask(Run &run, core::TimeUs now);
  void begin(Run &run, Piece &piece, core::TimeUs now);
  void answer(Run &run, core::TimeUs now);
  void note_outcome(Run &run, std::uint32_t generation,
                    core::DecodeOutcome outcome, core::TimeUs now);
  void warn(const std::string &text);
  void look_whether_open(core::TimeUs now);

  const Info &info_;
  const std::shared_ptr<Transfers> transfers_;
  const std::function<void()> wake_;
  OriginEvents &events_;
  std::vector<Asked> origins_;
  std::size_t next_origin_ = 0;
  std::vector<std::unique_ptr<Run>> runs_;
  bool open_ = false;
  bool paused_ = false;
  core::TimeUs progressed_at_ = 0;
};

} // namespace firn::app
