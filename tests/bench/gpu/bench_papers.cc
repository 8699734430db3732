// The papers' algorithms and the production codec on the same data, in the papers' own experiments,
// next to what the papers print:
//   bench_papers [--quick] [RESULT.json]
// Prints a line per measurement and writes everything as JSON, of which
// scripts/figures/papers_tables.py makes tables. MB/s are 10^6 bytes of coded or decoded payload a
// second. A part of each result is compared with the CPU's before it is timed. --quick takes one
// size of each experiment.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>

#include "bench_program.h"
#include "codec/kernels.h"
#include "paper_estimates.h"
#include "papers_bench.h"
#include "printed.h"

namespace firn::cuda::papers {
namespace {

constexpr int kKiB = 1024;
constexpr std::size_t kCodedBytes = std::size_t{16} << 20;  // made of one segment in a run

class Experiments {
 public:
  Experiments(const Device& device, bool quick)
      : device_(device),
        quick_(quick),
        threads_(std::max(1u, std::thread::hardware_concurrency())),
        bench_(device, threads_) {}

  Json run();

 private:
  Json& add(const char* experiment, std::string_view algorithm, const Measured& measured);
  Json& add_time(const char* experiment, std::string_view algorithm, const Measured& measured,
                 double printed, std::string_view where);
  Measured run_one(std::string_view name) { return bench_.measure(*find(name)); }
  void run_ours(const char* experiment) {
    add(experiment, "production", bench_.measure_production());
  }
  std::vector<int> sizes_n() const {
    return quick_ ? std::vector{128} : std::vector{128, 256, 512};
  }
  std::vector<int> sizes_k() const;

  void multiplication();
  void nuclei_encoding();
  void nuclei_mixed();
  void nuclei_decoding();
  void encoding_grid();
  void decoding_grid();
  void many_segments();
  void multi_segment_decoding();
  void vingelmann();
  void tang();
  void overlapped();
  void streaming();

  Device device_;
  bool quick_;
  std::size_t threads_;
  PaperBench bench_;
  Json result_;
};

// Adds what is known of the run and, where the paper prints a rate for it, that and the ratio.
Json& Experiments::add(const char* experiment, std::string_view algorithm,
                       const Measured& measured) {
  const Job job = bench_.job();
  const double rate = bench_.bytes() / measured.seconds / 1e6;
  Json row{{"experiment", experiment},
           {"algorithm", algorithm},
           {"segments", job.segments},
           {"n", job.n},
           {"m", job.m},
           {"k", job.k},
           {"ms", measured.seconds * 1e3},
           {"MB_per_s", rate},
           {"spread", measured.spread}};
  std::printf("%-22s %-34s x%-4d n=%-5d m=%-7d k=%-6d %10.3f ms %11.1f MB/s", experiment,
              std::string(algorithm).c_str(), job.segments, job.n, job.m, job.k,
              measured.seconds * 1e3, rate);
  if (const PrintedRate* printed = printed_rate(algorithm, job.n, job.k)) {
    row["printed_MB_per_s"] = printed->megabytes;
    row["printed_where"] = printed->where;
    row["ratio"] = rate / printed->megabytes;
    std::printf("  %.4g x %.4g (%s)", rate / printed->megabytes, printed->megabytes,
                std::string(printed->where).c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
  result_["rates"].push_back(row);
  return result_["rates"].back();
}

// The papers give some experiments in milliseconds.
Json& Experiments::add_time(const char* experiment, std::string_view algorithm,
                            const Measured& measured, double printed, std::string_view where) {
  Json& row = add(experiment, algorithm, measured);
  row["printed_ms"] = printed;
  row["printed_where"] = where;
  row["ratio"] = printed / (measured.seconds * 1e3);
  std::printf("%58s %.4g ms in Nuclei, %s: %.4g times as fast\n", "", printed,
              std::string(where).c_str(), printed / (measured.seconds * 1e3));
  return row;
}

std::vector<int> Experiments::sizes_k() const {
  if (quick_) return {4 * kKiB};
  return {128, 256, 512, kKiB, 2 * kKiB, 4 * kKiB, 8 * kKiB, 16 * kKiB, 32 * kKiB};
}

// Nuclei, IV-B to IV-D.
void Experiments::multiplication() {
  bench_.prepare(Kind::kMultiply, 1, 1024, 7168, 2048);
  const double words = 7168.0 * 1024 * 512;
  for (const PrintedTime& printed : kMemoryFreeTimes) {
    Json& row = add_time("memory-free 0xff", printed.algorithm, run_one(printed.algorithm),
                         printed.milliseconds, printed.where);
    row["word_products_per_s"] = words / (row["ms"].get<double>() / 1e3);
    if (quick_) break;
  }
  // With a thread for each word, as encoding has them, the chip is full.
  bench_.words_per_thread(1);
  double by_hand = 0;
  for (const PrintedTime& printed : kMemoryFreeTimes) {
    Json& row = add("memory-free, filled", printed.algorithm, run_one(printed.algorithm));
    by_hand = words / (row["ms"].get<double>() / 1e3);
    row["word_products_per_s"] = by_hand;
  }
  bench_.prepare(Kind::kEncode, 1, 1024, 7168, 2048);
  const Measured cpu = bench_.measure_cpu(false);
  add("CPU, all threads", "production", cpu);
  result_["table_I"] =
      estimate_computing_power(device_, threads_, by_hand, words * 4 / cpu.seconds);
}

// Nuclei, IV-E.1 and IV-E.3.
void Experiments::nuclei_encoding() {
  bench_.prepare(Kind::kEncode, 1, 1024, 7168, 2048);
  for (const PrintedTime& printed : kDenseTimes) {
    if (find(printed.algorithm)->kind != Kind::kEncode) continue;
    add_time("7168 dense", printed.algorithm, run_one(printed.algorithm), printed.milliseconds,
             printed.where);
  }
  run_ours("7168 dense");
  bench_.all_ones();
  for (const PrintedTime& printed : kAllOnesTimes) {
    add_time("7168 all 0xff", printed.algorithm, run_one(printed.algorithm), printed.milliseconds,
             printed.where);
  }
  run_ours("7168 all 0xff");
  bench_.prepare(Kind::kCoefficients, 1, 1024, 7168, 2048);
  add_time("7168 x 1024 coefficients", "nuclei.coefficients", run_one("nuclei.coefficients"), 1.61,
           "IV-E.3");
}

// Nuclei, IV-E.2 and Fig. 6: the sweep over the GPU's share.
void Experiments::nuclei_mixed() {
  for (const auto& [n, m, k] : {std::array{1024, 7168, 2048}, std::array{128, 4096, 4096}}) {
    bench_.prepare(Kind::kEncode, 1, n, m, k);
    for (const double share :
         {0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.54, 0.7, 0.85, 1.0}) {
      if (quick_ && share != 0.5) continue;
      bench_.share(share);
      add("mixed CPU and GPU", "nuclei.encode.mixed", run_one("nuclei.encode.mixed"))["gpu_share"] =
          share;
    }
  }
}

// Nuclei, IV-F: n = m = 1024, k = 2048.
void Experiments::nuclei_decoding() {
  bench_.prepare(Kind::kDecode, 1, 1024, 1024, 2048);
  for (const PrintedTime& printed : kDecodeTimes) {
    add_time("decode 1024 x 2048", printed.algorithm, run_one(printed.algorithm),
             printed.milliseconds, printed.where);
  }
  run_ours("decode 1024 x 2048");
  add("decode 1024 x 2048", "production, CPU, one thread", bench_.measure_cpu(true));
}

// Nuclei Fig. 5(a), Envelope Figs. 4(a), 6, 7, 8: many coded blocks of one segment.
void Experiments::encoding_grid() {
  const auto in_grid = [](const Algorithm& one) {
    // These are measured in their own experiments: few threads, or the CPU.
    return one.kind == Kind::kEncode && (one.traits & kResultOnHost) == 0 &&
           one.name != "nuclei.encode.coarse" && one.name != "vingelmann.encode.packet_per_thread";
  };
  std::vector<int> sizes = sizes_n();
  if (!quick_) sizes.push_back(1024);
  for (const int n : sizes) {
    for (const int k : sizes_k()) {
      if (n == 1024 && k != 4 * kKiB && k != 32 * kKiB) continue;
      bench_.prepare(Kind::kEncode, 1, n, static_cast<int>(kCodedBytes) / k, k);
      for (const Algorithm& one : algorithms()) {
        if (in_grid(one) && (one.traits & kBinary) == 0) {
          add("encode", one.name, bench_.measure(one));
        }
      }
      run_ours("encode");
      if (n == 128) {
        add("encode", "envelope.encode.cpu_log_domain", run_one("envelope.encode.cpu_log_domain"));
        add("encode", "production, CPU", bench_.measure_cpu(false));
      }
      bench_.binary();
      add("encode", "vingelmann.encode.binary", run_one("vingelmann.encode.binary"));
    }
  }
}

// Nuclei Fig. 5(b), Envelope Fig. 4(b): one segment.
void Experiments::decoding_grid() {
  for (const int n : sizes_n()) {
    for (const int k : sizes_k()) {
      bench_.prepare(Kind::kDecode, 1, n, n, k);
      for (const Algorithm& one : algorithms()) {
        const bool multi = one.name.starts_with("envelope.decode.multi");
        if (multi || (one.traits & kBinary) != 0 || !bench_.takes(one)) continue;
        add("decode", one.name, bench_.measure(one));
      }
      run_ours("decode");
      add("decode", "production, CPU, one thread", bench_.measure_cpu(true));
      bench_.binary();
      add("decode", "vingelmann.decode.binary", run_one("vingelmann.decode.binary"));
    }
  }
}

// Envelope, 5.1.2: n coded blocks of every segment of an array of them, instead of many of one.
void Experiments::many_segments() {
  for (const int n : sizes_n()) {
    bench_.prepare(Kind::kEncode, static_cast<int>(kCodedBytes) * 8 / (n * 4 * kKiB), n, n,
                   4 * kKiB);
    for (const char* name : {"nuclei.encode.fine_coefficients4", "envelope.encode.table1",
                             "envelope.encode.table5", "envelope.encode.conflict_free"}) {
      add("encode, n of each", name, run_one(name));
    }
    run_ours("encode, n of each");
  }
}

// Envelope Fig. 9: 30 and 60 segments on 30 multiprocessors are one and two on each.
void Experiments::multi_segment_decoding() {
  for (const int n : sizes_n()) {
    for (const int k : sizes_k()) {
      for (const int each : {1, 2}) {
        bench_.prepare(Kind::kDecode, each * device_.multiprocessors, n, n, k);
        const char* name =
            each == 1 ? "envelope.decode.multi_segment_one" : "envelope.decode.multi_segment_two";
        const Measured both = run_one(name);
        bench_.first_stage_only(true);
        const Measured first = run_one(name);
        bench_.first_stage_only(false);
        Json& row = add("decode, many segments", name, both);
        row["first_stage_share"] = first.seconds / both.seconds;
        std::printf("%58s first stage %.0f %%\n", "", 100 * first.seconds / both.seconds);
        add("decode, many segments", "production", bench_.measure_production());
      }
    }
  }
}

// Vingelmann and Fitzek, 5: L = 1024 over N, a generation at a time.
void Experiments::vingelmann() {
  for (const int n : quick_ ? std::vector{64} : std::vector{16, 32, 64, 128, 256, 512}) {
    for (const Kind kind : {Kind::kEncode, Kind::kDecode}) {
      const char* experiment = kind == Kind::kEncode ? "L=1024, encode" : "L=1024, decode";
      bench_.prepare(kind, 1, n, n, 1024);
      for (const Algorithm& one : algorithms()) {
        if (one.name.starts_with("vingelmann") && one.kind == kind && (one.traits & kBinary) == 0) {
          add(experiment, one.name, bench_.measure(one));
        }
      }
      run_ours(experiment);
      add(experiment, "production, CPU, one thread", bench_.measure_cpu(true));
      add(experiment, "scalar CPU, one thread", bench_.measure_cpu(true, "scalar"));
      bench_.binary();
      const char* binary =
          kind == Kind::kEncode ? "vingelmann.encode.binary" : "vingelmann.decode.binary";
      add(experiment, binary, run_one(binary));
    }
  }
}

// Tang, 3.3: the host inverts while the GPU encodes. Both at once, from the queueing of the encoder
// to the decoded blocks, on the data of a decoding job.
void Experiments::overlapped() {
  const Job job = bench_.job();
  add("16-128 KB, decode", "encode by tang.encode.fragment2, then decode by inverse_texture",
      bench_.time([&] {
        must(papers::run(bench_.context(), *find("tang.encode.fragment2"), job));
        must(papers::run(bench_.context(), *find("tang.decode.inverse_texture"), job));
      }));
}

// Tang, 5: inputs of 16 to 128 KB. The paper does not say into how many blocks; 128 here.
void Experiments::tang() {
  for (const int input : quick_ ? std::vector{64} : std::vector{16, 32, 64, 128}) {
    for (const int segments : {1, 256}) {
      const int n = 128, k = input * kKiB / n;
      bench_.prepare(Kind::kEncode, segments, n, n, k);
      for (const Algorithm& one : algorithms()) {
        const bool rival = one.name == "envelope.encode.table0";  // the paper's "TB"
        if (one.kind == Kind::kEncode && (rival || one.name.starts_with("tang"))) {
          add("16-128 KB, encode", one.name, bench_.measure(one));
        }
      }
      run_ours("16-128 KB, encode");
      bench_.prepare(Kind::kDecode, segments, n, n, k);
      for (const Algorithm& one : algorithms()) {
        if (one.kind == Kind::kDecode && one.name.starts_with("tang")) {
          add("16-128 KB, decode", one.name, bench_.measure(one));
        }
      }
      overlapped();
      const char* single = "nuclei.decode.buffered";  // the earlier GPU decoder
      if (segments == 1) add("16-128 KB, decode", single, run_one(single));
      run_ours("16-128 KB, decode");
    }
  }
}

// Envelope, 5.1.1: how many peers at 768 kbit/s one GPU serves at n = 128, k = 4 KiB.
void Experiments::streaming() {
  bench_.prepare(Kind::kEncode, 1, 128, 65536, 4 * kKiB);
  const auto peers = [&](const char* what, double rate, double printed, const char* where) {
    Json row{{"what", what},
             {"MB_per_s", rate / 1e6},
             {"peers", std::floor(rate / kPeerBytesPerSecond)}};
    std::printf("streaming: %-44s %12.0f peers", what, row["peers"].get<double>());
    if (printed > 0) {
      row["printed_peers"] = printed, row["printed_where"] = where;
      std::printf("  (%s: %.0f)", where, printed);
    }
    std::printf("\n");
    result_["streaming"].push_back(row);
  };
  const auto rate = [&](const Measured& measured) { return bench_.bytes() / measured.seconds; };
  peers("loop", rate(run_one(kLoop)), 1385, "Envelope 5.1.1");
  peers("table-based-1", rate(run_one("envelope.encode.table1")), 1844, "Envelope 5.1.2");
  peers("table-based-5", rate(run_one("envelope.encode.table5")), 3050, "Envelope 5.1.3");
  peers("conflict-free tables", rate(run_one("envelope.encode.conflict_free")), 0, "");
  peers("production, one segment", rate(bench_.measure_production()), 0, "");
  bench_.prepare(Kind::kEncode, 1024, 128, 128, 4 * kKiB);
  peers("production, n blocks of each of 1024 segments", rate(bench_.measure_production()), 0, "");
  bench_.prepare(Kind::kEncode, 1, 128, 65536, 4 * kKiB);
  peers("production, coded blocks copied to the host", rate(bench_.measure_production_to_host()), 0,
        "");
  peers("CPU alone, all threads", rate(bench_.measure_cpu(false)), 0, "");
}

Json Experiments::run() {
  const std::time_t now = std::time(nullptr);
  char date[32] = {};
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  result_ = {{"date", date},
             {"device", device_.name},
             {"multiprocessors", device_.multiprocessors},
             {"cpu_threads", threads_},
             {"cpu_kernels", codec::kernels().name}};
  std::printf("%s, %d multiprocessors; CPU with %zu threads, %s kernels; %s\n",
              device_.name.c_str(), device_.multiprocessors, threads_, codec::kernels().name, date);
  multiplication();
  nuclei_encoding();
  nuclei_mixed();
  nuclei_decoding();
  encoding_grid();
  decoding_grid();
  many_segments();
  multi_segment_decoding();
  vingelmann();
  tang();
  streaming();
  return result_;
}

}  // namespace
}  // namespace firn::cuda::papers

int main(int argc, char** argv) {
  return firn::cuda::run_bench_program(
      argc, argv, [](const firn::cuda::Device& device, bool quick) {
        return firn::cuda::papers::Experiments(device, quick).run();
      });
}
