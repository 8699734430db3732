#include "papers_bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "codec/decode.h"
#include "codec/kernels.h"
#include "codec/parallel.h"
#include "codec/random.h"
#include "codec/span_basis.h"

namespace firn::cuda::papers {
namespace {

constexpr double kSampleSeconds = 0.004, kSlowSeconds = 0.03;
constexpr int kSamples = 5, kSlowSamples = 2;

Measured median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const double middle = samples[samples.size() / 2];
  return {middle, (samples.back() - samples.front()) / middle};
}

std::size_t at_least(const DeviceMemory& memory, std::size_t bytes) {
  return memory.size() >= bytes ? 0 : bytes;
}

}  // namespace

void must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "bench_papers: %s\n", status.detail.c_str());
  std::exit(1);
}

PaperBench::PaperBench(const Device& device, std::size_t threads) : pool_(threads) {
  must(context_.open(device, pool_));
  must(watch_.open(device));
  must(ranks_.allocate(device, 1 << 20));
}

Measured PaperBench::time(const std::function<void()>& work) {
  const auto once = [&](int runs) {
    must(watch_.start(context_.stream()));
    for (int i = 0; i < runs; ++i) work();
    must(watch_.stop(context_.stream()));
    double seconds = 0;
    must(watch_.read(seconds));
    return seconds / runs;
  };
  work();
  const double first = once(1);
  const int runs = std::clamp(static_cast<int>(kSampleSeconds / first), 1, 100);
  std::vector<double> samples;
  for (int i = 0; i < (first > kSlowSeconds ? kSlowSamples : kSamples); ++i) {
    samples.push_back(once(runs));
  }
  return median(samples);
}

Measured PaperBench::time_on_host(const std::function<void()>& work) {
  work();
  std::vector<double> samples;
  double total = 0;
  while (samples.size() < kSlowSamples ||
         (samples.size() < kSamples && total < 10 * kSlowSeconds)) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    samples.push_back(took.count());
    total += took.count();
  }
  return median(samples);
}

double PaperBench::bytes() const {
  const int blocks = kind_ == Kind::kDecode ? job_.n : job_.m;
  return static_cast<double>(job_.segments) * blocks * job_.k;
}

void PaperBench::prepare(Kind kind, int segments, int n, int m, int k) {
  kind_ = kind;
  const auto s = static_cast<std::size_t>(segments), block = static_cast<std::size_t>(k);
  const auto inputs = static_cast<std::size_t>(kind == Kind::kDecode ? m : n);
  const auto outputs = static_cast<std::size_t>(kind == Kind::kDecode ? n : m);
  const std::size_t vectors = s * static_cast<std::size_t>(m * coefficient_pitch(n));
  const Device& device = context_.device();
  Stream& stream = context_.stream();
  must(stream.wait());
  if (at_least(source_, s * inputs * block) != 0) {
    must(source_.allocate(device, s * inputs * block));
    must(launch_coefficients(stream, 1, 0, 0, 1, source_.size(), source_.data()));
  }
  if (at_least(out_, s * outputs * block) != 0) must(out_.allocate(device, s * outputs * block));
  if (at_least(coefficients_, vectors) != 0) must(coefficients_.allocate(device, vectors));
  found_ranks_.assign(s, -1);
  job_ = {};
  job_.segments = segments, job_.n = n, job_.m = m, job_.k = k;
  job_.coefficients = coefficients_.data(), job_.blocks = source_.data(), job_.out = out_.data();
  job_.ranks = found_ranks_.data();
  job_.seed = 2;
  // The papers' sizes are multiples of 4: rows have no padding. Row r has sequence r of the seed.
  must(launch_coefficients(stream, job_.seed, 0, 0, s * static_cast<std::size_t>(m),
                           static_cast<std::size_t>(n), coefficients_.data()));
  if (kind == Kind::kDecode) make_regular();
  download(coefficients_.data(), vectors, host_coefficients_);
  job_.host_coefficients = host_coefficients_.data();
  if (segments == 1) {
    download(source_.data(), inputs * block, host_blocks_);
    if (host_out_.size() < outputs * block) must(host_out_.allocate(device, outputs * block));
    job_.host_blocks = host_blocks_.data();
    job_.host_out = host_out_.data();
  }
}

// One dense matrix in 255 is singular: such a segment takes another one's coefficients, and if
// there is no other, the next seed's.
void PaperBench::make_regular() {
  const auto n = static_cast<std::size_t>(job_.n), s = static_cast<std::size_t>(job_.segments);
  Stream& stream = context_.stream();
  DeviceMemory inverses, work;
  must(inverses.allocate(context_.device(), s * n * n));
  must(work.allocate(context_.device(),
                     std::max<std::size_t>(256, inverse_scratch(context_.device(), s, n).best)));
  Bytes ranks;
  const auto rank = [&](std::size_t g) {
    return reinterpret_cast<const std::uint32_t*>(ranks.data())[g];
  };
  std::size_t good = s;
  while (good == s) {
    must(launch_inverse(stream, s, n, coefficients_.data(), inverses.data(),
                        {reinterpret_cast<std::uint32_t*>(ranks_.data()), nullptr},
                        {work.data(), work.size()}));
    download(ranks_.data(), 4 * s, ranks);
    for (good = 0; good < s && rank(good) < n;) ++good;
    if (good < s) break;
    must(launch_coefficients(stream, ++job_.seed, 0, 0, s * n, n, coefficients_.data()));
  }
  for (std::size_t g = 0; g < s; ++g) {
    if (rank(g) == n) continue;
    must(stream.copy_on_device(coefficients_.data() + g * n * n,
                               coefficients_.data() + good * n * n, n * n));
  }
  must(stream.wait());
}

void PaperBench::download(const std::uint8_t* from, std::size_t bytes, Bytes& to) {
  to.resize(bytes);
  must(context_.stream().copy_out(to.data(), from, bytes));
  must(context_.stream().wait());
}

void PaperBench::all_ones() {
  std::fill(host_coefficients_.begin(), host_coefficients_.end(), std::uint8_t{0xff});
  must(context_.stream().copy_in(coefficients_.data(), host_coefficients_.data(),
                                 host_coefficients_.size()));
  must(context_.stream().wait());
}

void PaperBench::binary() {
  const auto n = static_cast<std::size_t>(job_.n), m = static_cast<std::size_t>(job_.m);
  for (std::uint64_t stream = 0;; ++stream) {
    codec::CoefficientStream random(3, stream);
    random.fill(host_coefficients_);
    for (std::uint8_t& c : host_coefficients_) c &= 1;
    if (kind_ != Kind::kDecode) break;
    codec::SpanBasis basis(n);
    for (std::size_t r = 0; r < m; ++r) basis.insert({&host_coefficients_[r * n], n});
    if (basis.full()) break;
  }
  must(context_.stream().copy_in(coefficients_.data(), host_coefficients_.data(),
                                 host_coefficients_.size()));
  must(context_.stream().wait());
}

bool PaperBench::takes(const Algorithm& algorithm) const {
  return algorithm.kind == kind_ && job_.n <= generation_size_max(algorithm, context_);
}

// The first, a middle and the last coded block of the only segment.
void PaperBench::check_encoded(const std::uint8_t* out) {
  const auto n = static_cast<std::size_t>(job_.n), k = static_cast<std::size_t>(job_.k);
  const auto m = static_cast<std::size_t>(job_.m);
  std::vector<const std::uint8_t*> in;
  for (std::size_t j = 0; j < n; ++j) in.push_back(&host_blocks_[j * k]);
  Bytes wanted(k);
  for (const std::size_t row : {std::size_t{0}, m / 2, m - 1}) {
    codec::kernels().combine(wanted.data(), in.data(), &host_coefficients_[row * n], n, k);
    if (!std::equal(wanted.begin(), wanted.end(), out + row * k)) {
      must({Code::kFailed, "a coded block is not the CPU's"});
    }
  }
}

// C X = Y in the last segment, for its first and its last row.
void PaperBench::check_decoded(const Bytes& out, std::size_t segment) {
  const auto n = static_cast<std::size_t>(job_.n), k = static_cast<std::size_t>(job_.k);
  std::vector<const std::uint8_t*> in;
  for (std::size_t j = 0; j < n; ++j) in.push_back(&out[j * k]);
  Bytes got(k), received;
  for (const std::size_t row : {std::size_t{0}, n - 1}) {
    codec::kernels().combine(got.data(), in.data(), &host_coefficients_[(segment * n + row) * n], n,
                             k);
    download(source_.data() + (segment * n + row) * k, k, received);
    if (got != received) must({Code::kFailed, "decoded blocks do not give the coded ones"});
  }
}

Measured PaperBench::measure(const Algorithm& algorithm) {
  const auto work = [&] { must(run(context_, algorithm, job_)); };
  const auto bytes_out = static_cast<std::size_t>(bytes());
  if (kind_ == Kind::kEncode || kind_ == Kind::kDecode) {
    must(context_.stream().fill(out_.data(), 0xa5, bytes_out));
    work();
    must(context_.stream().wait());
  }
  if (kind_ == Kind::kEncode && job_.segments == 1) {
    Bytes out;
    const bool on_host = (algorithm.traits & kResultOnHost) != 0;
    if (!on_host) download(out_.data(), bytes_out, out);
    check_encoded(on_host ? job_.host_out : out.data());
  }
  if (kind_ == Kind::kDecode && !job_.first_stage_only) {
    for (const int rank : found_ranks_) {
      if (rank != job_.n) must({Code::kFailed, std::string(algorithm.name) + ": wrong rank"});
    }
    const std::size_t last = found_ranks_.size() - 1, bytes_each = bytes_out / found_ranks_.size();
    Bytes out;
    download(out_.data() + last * bytes_each, bytes_each, out);
    check_decoded(out, last);
  }
  return (algorithm.traits & kOnCpu) != 0 ? time_on_host(work) : time(work);
}

Measured PaperBench::measure_production() {
  const Shape shape{static_cast<std::size_t>(job_.segments), static_cast<std::size_t>(job_.n),
                    static_cast<std::size_t>(job_.m), static_cast<std::size_t>(job_.k)};
  const bool decode = kind_ == Kind::kDecode;
  const ScratchSize size =
      decode ? decode_scratch(context_.device(), shape) : product_scratch(context_.device(), shape);
  if (at_least(scratch_, size.best) != 0) must(scratch_.allocate(context_.device(), size.best));
  const Scratch scratch{scratch_.data(), scratch_.size()};
  const ConstBlocks in{source_.data(), shape.block_bytes};
  const Blocks out{out_.data(), shape.block_bytes};
  Stream& stream = context_.stream();
  const Ranks ranks{reinterpret_cast<std::uint32_t*>(ranks_.data()), nullptr};
  return time([&] {
    if (decode) {
      must(launch_decode(stream, shape, coefficients_.data(), in, out, ranks, scratch));
    } else {
      must(launch_product(stream, shape, coefficients_.data(), in, out, scratch));
    }
  });
}

// Pieces of the coded blocks go through two streams in turn: while one copies, the other
// multiplies.
Measured PaperBench::measure_production_to_host() {
  constexpr std::size_t kPieces = 16;
  const auto n = static_cast<std::size_t>(job_.n), k = static_cast<std::size_t>(job_.k);
  const std::size_t rows = static_cast<std::size_t>(job_.m) / kPieces;
  const Shape shape{1, n, rows, k};
  const std::size_t scratch_each =
      (product_scratch(context_.device(), shape).best + 255) / 256 * 256;
  DeviceMemory scratch;
  Stream streams[2];
  for (Stream& stream : streams) must(stream.open(context_.device()));
  must(scratch.allocate(context_.device(), std::max<std::size_t>(256, 2 * scratch_each)));
  must(context_.stream().wait());
  return time_on_host([&] {
    for (std::size_t piece = 0; piece < kPieces; ++piece) {
      Stream& stream = streams[piece % 2];
      std::uint8_t* out = out_.data() + piece * rows * k;
      must(launch_product(stream, shape, coefficients_.data() + piece * rows * n,
                          {source_.data(), k}, {out, k},
                          {scratch.data() + piece % 2 * scratch_each, scratch_each}));
      must(stream.copy_out(host_out_.data() + piece * rows * k, out, rows * k));
    }
    for (Stream& stream : streams) must(stream.wait());
  });
}

Measured PaperBench::measure_cpu(bool one_thread, std::string_view kernels) {
  const auto n = static_cast<std::size_t>(job_.n), m = static_cast<std::size_t>(job_.m);
  const auto k = static_cast<std::size_t>(job_.k);
  const codec::Kernels& set = kernels.empty() ? codec::kernels() : *codec::find_kernels(kernels);
  std::vector<const std::uint8_t*> in, vectors;
  for (std::size_t j = 0; j < (kind_ == Kind::kDecode ? m : n); ++j) {
    in.push_back(&host_blocks_[j * k]);
  }
  if (kind_ == Kind::kDecode) {
    for (std::size_t r = 0; r < m; ++r) vectors.push_back(&host_coefficients_[r * n]);
    return time_on_host([&] {
      if (!codec::decode_generation(set, n, k, vectors, in, {host_out_.data(), n * k})) {
        must({Code::kFailed, "the CPU cannot decode"});
      }
    });
  }
  std::vector<std::uint8_t*> out;
  for (std::size_t r = 0; r < m; ++r) out.push_back(host_out_.data() + r * k);
  codec::SerialExecutor alone;
  codec::Executor& executor = one_thread ? static_cast<codec::Executor&>(alone) : pool_;
  return time_on_host([&] {
    codec::multiply_rows(executor, set, out.data(), m, in.data(), n, host_coefficients_.data(), n,
                         k);
  });
}

}  // namespace firn::cuda::papers
