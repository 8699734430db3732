#include "client/app/medium/medium_times.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "client/medium/groups.h"
#include "client/medium/mark.h"
#include "client/medium/sync_inner_code.h"
#include "codec/kernels.h"
#include "codec/product.h"
#include "codec/random.h"
#include "codec/sync/channel.h"
#include "codec/thread_pool.h"

namespace firn::app {
namespace {

constexpr double kWriteSample = 0.05, kReadSample = 0.2;  // seconds
constexpr std::size_t kScanSample = 1 << 18;              // bits
constexpr std::size_t kCodeSample = 1 << 20;              // bytes of source blocks
// Inner codes whose books a reading makes: that of labels and that of frames.
constexpr double kCodesMade = 2;

using SampleClock = std::chrono::steady_clock;

double passed_since(SampleClock::time_point begun) {
  return std::chrono::duration<double>(SampleClock::now() - begun).count();
}

double time_of(const std::function<void()>& work) {
  const auto begun = SampleClock::now();
  work();
  return passed_since(begun);
}

// Of one call, from as many as fill `sample` seconds, but one at least.
double time_of_each(double sample, const std::function<void()>& work) {
  double spent = 0;
  std::size_t calls = 0;
  while (spent < sample) {
    spent += time_of(work);
    ++calls;
  }
  return spent / static_cast<double>(calls);
}

class Sampling {
 public:
  Sampling(const medium::Plan& plan, std::shared_ptr<const medium::InnerCode> inner)
      : plan_(plan), label_(plan.label), inner_(std::move(inner)), random_(1, 0) {
    // Group 1 has no label before it, and there is one.
    label_.place_count = std::max<std::uint64_t>(label_.place_count, 2 * label_.frames_per_group);
    const medium::GroupWriter writer(label_, inner_, std::make_shared<medium::LabelCode>());
    const auto payload_of = [&](std::uint64_t) { return random_bytes(label_.payload_bytes()); };
    writing_ = time_of_each(kWriteSample, [&] { group_ = writer.group(1, payload_of); });
    writing_ /= label_.frames_per_group;
  }

  // Of a frame, by one thread.
  double writing() const { return writing_; }

  // Of a frame, by all threads together.
  double reading(unsigned threads) {
    const std::size_t mark = inner_->mark().size();
    medium::Bits bits(group_.begin(), group_.begin() + static_cast<std::ptrdiff_t>(mark));
    const medium::Rates& rates = label_.planned;
    const auto received =
        codec::sync::transmit(std::span(group_).subspan(mark),
                              {rates.insertion, rates.deletion, rates.substitution}, random_);
    bits.insert(bits.end(), received.begin(), received.end());
    const medium::GroupReader reader(label_, inner_);
    const medium::Boundary start{static_cast<std::int64_t>(mark), {1.0}};
    // More threads than processors read no faster.
    const unsigned processors = std::max(1u, std::thread::hardware_concurrency());
    codec::ThreadPool pool(std::clamp(threads, 1u, processors));
    const auto round = [&] {
      pool.run(pool.threads(), [&](std::size_t) { (void)reader.read({0, bits}, start, 1); });
    };
    round();  // makes the decoders
    return time_of_each(kReadSample, round) / static_cast<double>(pool.threads());
  }

  // Of a bit that is looked through for marks.
  double scanning() {
    medium::MarkFinder finder(inner_->mark());
    const auto bytes = random_bytes(kScanSample / 8);
    const medium::Bits bits = medium::unpack(bytes);
    return time_of([&] {
             for (const std::uint8_t bit : bits) (void)finder.next(bit);
           }) /
           static_cast<double>(kScanSample);
  }

  // Of a coded row for each byte of its generation.
  double coding() {
    const std::size_t n = plan_.shape.generation_size;
    const std::size_t k = std::clamp<std::size_t>(kCodeSample / n, 1, plan_.shape.block_bytes);
    const auto blocks = random_bytes(n * k), vector = random_bytes(n);
    std::vector<std::uint8_t> row(k);
    std::vector<const std::uint8_t*> in;
    for (std::size_t i = 0; i < n; ++i) in.push_back(blocks.data() + i * k);
    std::uint8_t* out = row.data();
    const auto multiply = [&] {
      codec::multiply_rows(codec::kernels(), &out, 1, in.data(), n, vector.data(), n, k);
    };
    multiply();
    return time_of(multiply) / static_cast<double>(n * k);
  }

 private:
  std::vector<std::uint8_t> random_bytes(std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    random_.fill(bytes);
    return bytes;
  }

  const medium::Plan& plan_;
  medium::Label label_;
  const std::shared_ptr<const medium::InnerCode> inner_;
  codec::CoefficientStream random_;
  medium::Bits group_;
  double writing_ = 0;
};

}  // namespace

Result<MediumTimes> estimate_times(const medium::Plan& plan, unsigned threads) {
  const medium::Label& label = plan.label;
  const auto begun = SampleClock::now();
  const auto inner = medium::SyncInnerCode::make(label.inner, label.word_bytes, label.planned);
  const double making = passed_since(begun);
  if (!inner.ok()) return inner.error();
  Sampling sample(plan, *inner);
  const auto frames = static_cast<double>(label.place_count);
  const double content = static_cast<double>(plan.shape.content_bytes) * sample.coding();
  const std::uint32_t n = plan.shape.generation_size;
  MediumTimes times;
  times.threads = std::max(1u, threads);
  times.write_seconds = making + frames * sample.writing() + content * label.spare.of(n);
  times.read_seconds = kCodesMade * making + static_cast<double>(plan.bits) * sample.scanning() +
                       frames * sample.reading(threads) + content * n * plan.frame_loss;
  return times;
}

}  // namespace firn::app
