// Rates of the codec beside the machine's limits, ISA-L and the papers' methods:
//   bench_codec [--quick] [--repeats N] [--threads N] [--shape N,K]... [--json FILE] [--note TEXT]
//   bench_codec --probe checks|levels|span|threads [...]
//                                               one question alone, see codec/bench/probes.h
// Prints a table. See docs/benchmarks.md.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "codec/bench/bench.h"
#include "codec/bench/probes.h"
#include "codec/bench/report.h"

namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown CPU";
}

[[noreturn]] void usage() {
  std::cerr
      << "usage: bench_codec [--quick] [--repeats N] [--threads N] [--shape N,K]...\n"
         "                   [--probe checks|levels|span|threads] [--json FILE] [--note TEXT]\n";
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  firn::codec::bench::Options options;
  std::string json_file, probe_name, machine = cpu_name();
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--quick") {
      options.repeats = 3;
      options.shapes = {{64, 16384}, {128, 4096}, {512, 16384}};
      options.shapes_for_all = {{128, 4096}};
      continue;
    }
    if (i + 1 == argc) usage();
    const std::string value = argv[++i];
    if (option == "--repeats") {
      options.repeats = std::strtoul(value.c_str(), nullptr, 10);
    } else if (option == "--threads") {
      options.threads = std::strtoul(value.c_str(), nullptr, 10);
    } else if (option == "--shape") {
      std::size_t n = 0, k = 0;
      if (std::sscanf(value.c_str(), "%zu,%zu", &n, &k) != 2 || n == 0 || k == 0) usage();
      options.shapes.push_back({n, k});
      options.shapes_for_all = {options.shapes.back()};
    } else if (option == "--probe") {
      probe_name = value;
    } else if (option == "--json") {
      json_file = value;
    } else if (option == "--note") {
      machine += "; " + value;
    } else {
      usage();
    }
  }
  if (options.repeats == 0 || options.threads == 0) usage();
  firn::codec::bench::Report report;
  if (probe_name.empty()) {
    report = firn::codec::bench::run(
        options, [](const std::string& what) { std::cerr << what << std::endl; });
  } else if (!firn::codec::bench::probe(probe_name, options, report)) {
    usage();
  }
  std::cout << to_table(report, machine);
  if (json_file.empty()) return 0;
  std::ofstream out(json_file);
  out << to_json(report, machine) << '\n';
  out.flush();
  if (!out) std::cerr << "bench_codec: cannot write " << json_file << '\n';
  return out ? 0 : 1;
}
