#include "client/app/origin/origin_reading.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace firn::app {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kInflowBytesMax = 4 << 20;
constexpr std::size_t kInflowBytesLeast = 64 << 10;
constexpr auto kWaitPoll = 100ms;
// A wait that takes so long: the process was stopped, or the machine asleep.
constexpr auto kStopped = 2s;
// What is read at once where a limit holds, as a share of a second.
constexpr std::uint64_t kLimitedParts = 20;

std::string seconds_text(std::chrono::steady_clock::duration duration) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

}  // namespace

// Between the transfers' thread and the one that reads.
class OriginReading::Inflow : public TransferSink {
 public:
  explicit Inflow(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  Status head(const OriginAnswer& answer) override {
    const std::lock_guard lock(mutex);
    answer_ = answer;
    changed.notify_all();
    return Done{};
  }
  bool take(std::span<const std::uint8_t> bytes) override {
    const std::lock_guard lock(mutex);
    pauses_ = !bytes_.empty() && bytes_.size() + bytes.size() > bytes_max_;
    if (pauses_) return false;
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    changed.notify_all();
    return true;
  }
  void ended(const TransferEnd& end) override {
    const std::lock_guard lock(mutex);
    end_ = end;
    changed.notify_all();
  }

  // With `mutex` held.
  const std::optional<OriginAnswer>& answer() const { return answer_; }
  const std::optional<TransferEnd>& end() const { return end_; }
  bool has_bytes() const { return !bytes_.empty(); }

  // All that has come, for `out`, whose bytes go. True: the transfer is to be resumed.
  bool hand_over(std::vector<std::uint8_t>& out) {
    const std::lock_guard lock(mutex);
    out.clear();
    out.swap(bytes_);
    return std::exchange(pauses_, false);
  }

  std::mutex mutex;
  std::condition_variable changed;

 private:
  const std::size_t bytes_max_;
  std::optional<OriginAnswer> answer_;
  std::optional<TransferEnd> end_;
  std::vector<std::uint8_t> bytes_;
  bool pauses_ = false;
};

OriginReading::OriginReading(std::shared_ptr<Transfers> transfers, OriginUrl url,
                             std::shared_ptr<const OriginAccess> access,
                             OriginReadingOptions options)
    : transfers_(std::move(transfers)),
      url_(std::move(url)),
      access_(std::move(access)),
      options_(std::move(options)) {}

OriginReading::~OriginReading() {
  drop_inflow();
}

void OriginReading::drop_inflow() {
  if (inflow_ != nullptr) transfers_->cancel(id_);
  inflow_.reset();
  chunk_.clear();
  chunk_used_ = 0;
}

std::size_t OriginReading::inflow_bytes_max() const {
  // Else the line would be used above the limit until the buffer is full.
  return options_.bytes_per_second == 0
             ? kInflowBytesMax
             : std::clamp(static_cast<std::size_t>(std::min<std::uint64_t>(
                              options_.bytes_per_second / kLimitedParts, kInflowBytesMax)),
                          kInflowBytesLeast, kInflowBytesMax);
}

Status OriginReading::begin(std::uint64_t first, const OriginFileState& known) {
  FIRN_CHECK(first == 0 || (known.can_go_on() && first <= *known.bytes));
  drop_inflow();
  state_ = first == 0 ? OriginFileState{} : known;
  position_ = first;
  whole_ = changed_ = false;
  reached_ |= first > 0;
  progressed_ = allowed_ = Clock::now();
  pause_ = {};
  trouble_.clear();
  return connect();
}

TransferRequest OriginReading::next_request() {
  TransferRequest request;
  request.url = url_;
  request.access = access_;
  request.size = state_.bytes;
  request.validator = state_.validator;
  to_pass_over_ = position_;
  if (whole_ || position_ == 0 || *state_.bytes == 0) return request;
  // Where nothing is left to fetch, the last byte tells whether the file is the same.
  const std::uint64_t first = std::min(position_, *state_.bytes - 1);
  request.range = FileRange{first, *state_.bytes - first};
  to_pass_over_ = position_ - first;
  return request;
}

Status OriginReading::connect() {
  for (;;) {
    drop_inflow();
    inflow_ = std::make_shared<Inflow>(inflow_bytes_max());
    id_ = transfers_->begin(next_request(), inflow_);
    const auto came = [this] { return inflow_->answer() || inflow_->end(); };
    if (Status waited = await(came, std::nullopt); !waited) return waited;
    std::optional<TransferEnd> end;
    {
      const std::lock_guard lock(inflow_->mutex);
      if (const auto& answer = inflow_->answer()) {
        reached_ = true;
        if (!state_.bytes) state_.bytes = answer->size;
        if (state_.validator.empty()) state_.validator = answer->validator();
        if (state_.last_modified.empty()) state_.last_modified = answer->last_modified;
        return Done{};
      }
      end = inflow_->end();
    }
    if (Status recovered = recover(*end); !recovered) return recovered;
  }
}

Result<std::size_t> OriginReading::read(std::span<std::uint8_t> out) {
  FIRN_CHECK(inflow_ != nullptr && !out.empty());
  progressed_ = Clock::now();  // what the caller did meanwhile is no wait
  for (;;) {
    const std::size_t passed_over = static_cast<std::size_t>(
        std::min<std::uint64_t>(to_pass_over_, chunk_.size() - chunk_used_));
    chunk_used_ += passed_over;
    to_pass_over_ -= passed_over;
    if (chunk_used_ < chunk_.size()) break;

    const auto came = [this] { return inflow_->has_bytes() || inflow_->end(); };
    if (Status waited = await(came, std::nullopt); !waited) return waited.error();
    if (inflow_->hand_over(chunk_)) transfers_->resume(id_);
    chunk_used_ = 0;
    if (!chunk_.empty()) continue;
    const TransferEnd end = *inflow_->end();  // the last call has been made
    if (end.fault == Fault::kNone) return std::size_t{0};
    if (Status recovered = recover(end); !recovered) return recovered.error();
    if (Status connected = connect(); !connected) return connected.error();
  }
  std::size_t count = std::min(out.size(), chunk_.size() - chunk_used_);
  if (const std::uint64_t rate = options_.bytes_per_second; rate > 0) {
    count = static_cast<std::size_t>(
        std::min<std::uint64_t>(count, std::max<std::uint64_t>(1, rate / kLimitedParts)));
    progressed_ = allowed_;
    if (Status waited = await([] { return false; }, allowed_); !waited) return waited.error();
    allowed_ = std::max(allowed_, Clock::now() - 1s / static_cast<long>(kLimitedParts)) +
               std::chrono::nanoseconds(count * 1'000'000'000ull / rate);
  }
  std::copy_n(chunk_.begin() + static_cast<std::ptrdiff_t>(chunk_used_), count, out.begin());
  chunk_used_ += count;
  position_ += count;
  pause_ = {};
  trouble_.clear();
  return count;
}

// Until `event`, which is looked at with the inflow's mutex held, or the time `until` has come.
Status OriginReading::await(const std::function<bool()>& event,
                            std::optional<Clock::time_point> until) {
  for (;;) {
    const auto now = Clock::now();
    if (options_.cancelled && options_.cancelled())
      return Error{ErrorCode::kCancelled, "fetch " + url_.shown(), "stopped"};
    if (options_.timeout && now - progressed_ >= *options_.timeout)
      return given_up(trouble_.empty() ? "the server does not answer" : trouble_);
    {
      std::unique_lock lock(inflow_->mutex);
      if (event() || (until && now >= *until)) return Done{};
      const auto poll = now + kWaitPoll;
      inflow_->changed.wait_until(lock, std::min(until.value_or(poll), poll), event);
    }
    if (Clock::now() - now > kStopped) progressed_ = Clock::now();
    if (options_.waits) options_.waits();
  }
}

// Whether, after a transfer has ended so, another one may bring what is missing; waits until it may
// begin.
Status OriginReading::recover(const TransferEnd& end) {
  const Error& error = end.status.error();
  const auto as = [&](ErrorCode code, const std::string& detail) {
    return Error{code, "fetch " + url_.shown(), detail};
  };
  switch (end.fault) {
    case Fault::kNoRanges:
      if (whole_ || position_ == 0) return error;
      whole_ = true;
      if (options_.tell)
        options_.tell("the server sends no parts of files: " + url_.shown() +
                      " is fetched from its beginning again");
      return Done{};
    case Fault::kChanged:
      changed_ = true;
      return as(ErrorCode::kCorrupt, "the file on the server has changed");
    case Fault::kForbidden:
    case Fault::kGone:
      return as(ErrorCode::kUnreachable, error.detail);
    case Fault::kPassing:
      break;
    default:
      return error;
  }
  if (position_ > 0 && !state_.can_go_on())
    return as(ErrorCode::kUnreachable,
              error.detail +
                  "; and it cannot be gone on with, as the server says neither ETag nor "
                  "date of the file, or not its size; the same command begins anew");
  reached_ |= end.reached;
  if (!reached_ && ++vain_attempts_ == kFirstAttempts)
    return as(ErrorCode::kUnreachable, error.detail);
  trouble_ = error.detail;
  pause_ = std::clamp<Clock::duration>(pause_ * 2, options_.first_pause, options_.longest_pause);
  const auto asked = std::chrono::seconds(end.retry_after_s.value_or(0));
  const auto pause = std::max<Clock::duration>(pause_, asked);
  if (options_.tell)
    options_.tell(error.message() + "; the next attempt is in " + seconds_text(pause));
  return await([] { return false; }, Clock::now() + pause);
}

Error OriginReading::given_up(const std::string& why) const {
  return {ErrorCode::kUnreachable, "fetch " + url_.shown(),
          "nothing came for " + seconds_text(*options_.timeout) + ": " + why};
}

}  // namespace firn::app
