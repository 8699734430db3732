// The codec's benchmark: in one run the limits of the machine, ours with every kernel set, ISA-L
// where it is there, and the papers' two ways to multiply. Everything that is compared is sampled
// in turn, round after round, so that a slow moment of the machine falls on all of it.
//
// Nothing is printed here; codec/bench/report.h writes a Report down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace firn::codec::bench {

struct Shape {
  std::size_t n, k;  // blocks in a generation, bytes in a block
};

struct Options {
  std::size_t repeats = 7;
  double sample_seconds = 0.015;
  std::size_t threads = 2;       // measured besides one thread; 1: not at all
  double patience_seconds = 60;  // for a core for each thread, in the whole run
  // With the best kernel set; empty: n = 16..1024, k = 1..32 KiB, and the papers' grid.
  std::vector<Shape> shapes;
  // With every kernel set.
  std::vector<Shape> shapes_for_all = {{64, 16384}, {128, 4096}, {128, 32768}, {512, 16384}};
};

// Samples of one measure. One thread is timed by its own CPU time; several by the clock on the
// wall, and a second time ("by CPU time") by the longest of their tasks.
//
// On a virtual machine two CPUs may for a while be two hardware threads of one core. So a sample of
// several threads is taken between two checks that registers alone are that many times as fast on
// them, and discarded if they are not, within Options::patience_seconds.
struct Cell {
  std::string operation;  // see docs/benchmarks.md
  std::string series;     // "firn", "isa-l", "log-exp", "loop", "register", "read"
  std::string kernels;    // set in use, if any
  std::size_t n = 0, k = 0, rows = 0, threads = 1;
  std::string unit;             // "GMAC/s", "MB/s", "GB/s", "us", "%"
  std::vector<double> samples;  // one for each repeat
  std::size_t discarded = 0;    // samples taken while the threads shared a core

  double median() const;
  double low() const;  // the worst and the best of the middle half
  double high() const;
};

struct Report {
  std::string best_kernels, isal_version;
  std::size_t repeats = 0;
  std::vector<Cell> cells;  // a shape's register limit stands before its other cells
};

// progress: told what is measured next. Uses one thread, and `threads` for some cells.
Report run(const Options& options, const std::function<void(const std::string&)>& progress);

}  // namespace firn::codec::bench
