// The papers' algorithms: all there by name, and each equal to the CPU's scalar result in every
// byte.
#include <set>

#include "codec/gf256.h"
#include "papers_problem.h"

namespace firn::cuda::papers {
namespace {

// What is asked for, paper by paper. A name is removed from here only together with its paper.
constexpr const char* kNames[] = {
    "nuclei.multiply.byte",
    "nuclei.multiply.word_conditions",
    "nuclei.multiply.word_mask",
    "nuclei.multiply.word_mul24",
    "nuclei.multiply.word_by_hand",
    "nuclei.encode.coarse",
    "nuclei.encode.fine",
    "nuclei.encode.fine_coefficients4",
    "nuclei.encode.mixed",
    "nuclei.coefficients",
    "nuclei.encode.gpu_coefficients",
    "nuclei.decode.host_pivot",
    "nuclei.decode.replicated",
    "nuclei.decode.buffered",
    "envelope.encode.table0",
    "envelope.encode.table1",
    "envelope.encode.table2",
    "envelope.encode.table3",
    "envelope.encode.table4_texture",
    "envelope.encode.table4_read_only",
    "envelope.encode.table5",
    "envelope.encode.conflict_free",
    "envelope.encode.cpu_log_domain",
    "envelope.decode.multi_segment_one",
    "envelope.decode.multi_segment_two",
    "envelope.decode.atomic_min",
    "envelope.decode.cached_matrix",
    "vingelmann.encode.packet_per_thread",
    "vingelmann.encode.byte",
    "vingelmann.encode.word",
    "vingelmann.encode.binary",
    "vingelmann.decode.two_kernels",
    "vingelmann.decode.pivot_kernel",
    "vingelmann.decode.binary",
    "tang.encode.fragment1",
    "tang.encode.fragment2",
    "tang.encode.fragment4",
    "tang.encode.fragment2_shared",
    "tang.decode.inverse_global",
    "tang.decode.inverse_texture",
    "tang.decode.inverse_shared",
};

// One either side of words, warps, tiles of 8, 16 and 32 rows or sources, 64 fragments, 256
// threads.
constexpr Sizes kEncodeSizes[] = {
    {1, 1, 1, 4},      {1, 1, 3, 8},     {2, 3, 5, 12},    {1, 4, 7, 64},     {1, 5, 8, 252},
    {3, 16, 16, 1024}, {1, 15, 9, 132},  {1, 17, 15, 124}, {1, 31, 33, 128},  {1, 32, 32, 260},
    {1, 33, 17, 508},  {1, 64, 6, 1028}, {1, 127, 9, 256}, {1, 128, 64, 516}, {2, 129, 4, 1020},
    {70, 2, 2, 4},     {1, 257, 2, 12},  {1, 1023, 5, 4},  {1, 1024, 3, 128}, {1, 8, 300, 4},
    {1, 2, 1, 33000},
};

template <class Check>
void for_each(Kind kind, const Check& check) {
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.kind == kind) check(algorithm);
  }
}

// Binary algorithms get binary coefficients.
void check_encoding(PaperDevice& device, const Problem& dense, bool coefficients_from_seed) {
  Problem binary = dense;
  make_binary(binary);
  for_each(Kind::kEncode, [&](const Algorithm& algorithm) {
    if ((algorithm.traits & kOwnCoefficients) != 0 && !coefficients_from_seed) return;
    INFO(describe(algorithm, dense.sizes));
    const Problem& problem = (algorithm.traits & kBinary) != 0 ? binary : dense;
    check_equal(device.encode(algorithm, problem), problem.coded);
  });
}

}  // namespace

TEST_CASE("every algorithm of the papers is there by its name") {
  std::set<std::string_view> wanted(std::begin(kNames), std::end(kNames)), found;
  for (const Algorithm& algorithm : algorithms()) {
    CHECK(found.insert(algorithm.name).second);
    CHECK(find(algorithm.name) == &algorithm);
    CHECK_FALSE(algorithm.section.empty());
    CHECK_FALSE(algorithm.what.empty());
  }
  CHECK(found == wanted);
  CHECK(find("nuclei.encode") == nullptr);
}

TEST_CASE("no algorithm is another one's kernels under a new name") {
  std::set<std::string_view> kernels;
  for (const Algorithm& algorithm : algorithms()) {
    CHECK(algorithm.kernels.empty() == ((algorithm.traits & kOnCpu) != 0));
    CHECK(kernels.insert(algorithm.kernels).second);
  }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("multiplication by a loop is right for every factor in all its stages") {
  PaperDevice device;
  const Sizes sizes{1, 5, 3, 24};
  for_each(Kind::kMultiply, [&](const Algorithm& algorithm) {
    for (unsigned factor = 0; factor < 256; ++factor) {
      Bytes wanted(sizes.bytes(sizes.m));
      for (unsigned i = 0; i < wanted.size(); ++i) {
        for (unsigned j = 0; j < 5; ++j) {
          const std::uint32_t word = memory_free_word(i / 24, j, i % 24 / 4) >> (8 * (i % 4));
          wanted[i] ^= codec::gf_multiply(static_cast<std::uint8_t>(factor),
                                          static_cast<std::uint8_t>(word));
        }
      }
      for (const int words_per_thread : {0, 1, 4}) {
        INFO(algorithm.name, " factor=", factor, " words=", words_per_thread);
        Guarded out(device.stream(), wanted.size());
        Job job;
        job.n = sizes.n, job.m = sizes.m, job.k = sizes.k;
        job.out = out.data(), job.factor = factor, job.words_per_thread = words_per_thread;
        require(run(device.context(), algorithm, job));
        check_equal(out.read(), wanted);
        if (factor % 16 != 15) break;  // the whole block for every factor, pieces for some
      }
    }
  });
}

TEST_CASE("coefficients made on the GPU by a generator for each block are the CPU's") {
  PaperDevice device;
  for (const Sizes sizes : {Sizes{1, 1, 1, 4}, Sizes{2, 63, 3, 4}, Sizes{1, 64, 65, 4},
                            Sizes{3, 65, 7, 4}, Sizes{1, 1022, 5, 4}}) {
    const Problem problem = make_problem(sizes, 77);
    for_each(Kind::kCoefficients, [&](const Algorithm& algorithm) {
      INFO(describe(algorithm, sizes));
      Guarded out(device.stream(), problem.coefficients.size());
      Job job;
      job.segments = sizes.segments, job.n = sizes.n, job.m = sizes.m;
      job.out = out.data(), job.seed = problem.seed;
      require(run(device.context(), algorithm, job));
      check_equal(out.read(), problem.coefficients);
    });
  }
}

TEST_CASE("every paper's encoder gives the CPU's bytes one either side of its tiles") {
  PaperDevice device;
  for (const Sizes& sizes : kEncodeSizes) check_encoding(device, make_problem(sizes, 5), true);
}

TEST_CASE("every paper's encoder takes zeros and all ones, in coefficients and in blocks") {
  PaperDevice device;
  Problem problem = make_problem({2, 37, 19, 148}, 6);
  for (std::size_t i = 0; i < problem.coefficients.size(); i += 2) {
    if (i % problem.sizes.pitch() < 37) problem.coefficients[i] = i % 3 == 0 ? 0xff : 0;
  }
  for (std::size_t i = 0; i < problem.source.size(); i += 3) {
    problem.source[i] = i % 2 == 0 ? 0 : 0xff;
  }
  encode_on_cpu(problem);
  check_encoding(device, problem, false);
}

TEST_CASE("mixed encoding is right whatever the GPU's share is") {
  PaperDevice device;
  const Problem problem = make_problem({2, 33, 21, 260}, 9);
  const Algorithm& mixed = *find("nuclei.encode.mixed");
  for (const double share : {0.0, 0.01, 0.3, 0.54, 0.99, 1.0}) {
    INFO(share);
    check_equal(device.encode(mixed, problem, share), problem.coded);
  }
}

TEST_CASE("jobs that an algorithm does not take are refused") {
  PaperDevice device;
  for (const Algorithm& algorithm : algorithms()) {
    INFO(algorithm.name);
    for (const Sizes sizes : {Sizes{0, 4, 4, 4}, Sizes{1, 0, 4, 4}, Sizes{1, 1025, 1025, 4},
                              Sizes{1, 4, 0, 4}, Sizes{1, 4, 4, 6}, Sizes{65536, 1, 1, 4}}) {
      Job job;
      job.segments = sizes.segments, job.n = sizes.n, job.m = sizes.m, job.k = sizes.k;
      CHECK(run(device.context(), algorithm, job).code == Code::kUnsupported);
    }
  }
}

TEST_SUITE_END();

}  // namespace firn::cuda::papers
