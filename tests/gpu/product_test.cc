#include <doctest/doctest.h>

#include <algorithm>

#include "on_device.h"

namespace firn::cuda {
namespace {

struct Placing {
  std::size_t source_gap = 0, out_gap = 0;  // beyond the fast pitch
  std::size_t offset = 0;                   // of all three operands from alignment
  std::size_t scratch_generations = 0;      // that scratch is for; 0: as much as is best
};

void check_product(OnDevice& on, const Shape& shape, Path path, codec::CoefficientStream& random,
                   const Placing& placing = {}) {
  INFO(describe(shape), " path=", name(path));
  const std::size_t n = shape.generation_size, m = shape.rows, g = shape.generations;
  const std::size_t source_pitch = fast_pitch(shape.block_bytes) + placing.source_gap;
  const std::size_t out_pitch = fast_pitch(shape.block_bytes) + placing.out_gap;
  const Bytes coefficients = random_bytes(g * m * n, random);
  const Bytes source = random_bytes(g * n * source_pitch, random);
  Guarded c(on.stream, coefficients, placing.offset), b(on.stream, source, placing.offset);
  Guarded out(on.stream, g * m * out_pitch, placing.offset);
  ScratchSize size = product_scratch(on.device, shape, path);
  if (placing.scratch_generations > 0) size.best = size.least * placing.scratch_generations;
  Guarded scratch(on.stream, size.best);
  require(launch_product(on.stream, shape, c.data(), {b.data(), source_pitch},
                         {out.data(), out_pitch}, {scratch.data(), size.best}, path));
  Bytes wanted(g * m * out_pitch, Guarded::kPoison);
  multiply_on_cpu(shape, coefficients, source, source_pitch, wanted, out_pitch);
  check_equal(out.read(), wanted);
  scratch.read();
}

}  // namespace

TEST_SUITE("device") {
  TEST_CASE("products are the CPU's one either side of every tile size in n") {
    OnDevice on;
    codec::CoefficientStream random(2, 1);
    for (const Path path : paths_of(on.device)) {
      for (const std::size_t n :
           {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129}) {
        check_product(on, {2, n, 37, 300}, path, random);
      }
    }
  }

  TEST_CASE("the same for large n") {
    OnDevice on;
    codec::CoefficientStream random(2, 9);
    for (const Path path : paths_of(on.device)) {
      for (const std::size_t n : {255, 256, 257, 511, 512, 513, 1023, 1024}) {
        check_product(on, {2, n, 37, 300}, path, random);
      }
    }
  }

  TEST_CASE("products are the CPU's one either side of every tile size in m") {
    OnDevice on;
    codec::CoefficientStream random(2, 2);
    for (const Path path : paths_of(on.device)) {
      for (const std::size_t n : {20, 40, 80, 100, 140}) {
        for (const std::size_t m :
             {1,  7,  8,  9,   15,  16,  17,  31,  32,  33,  63,  64,  65,
              95, 96, 97, 127, 128, 129, 191, 192, 193, 255, 256, 257, 1000}) {
          check_product(on, {2, n, m, 100}, path, random);
        }
      }
    }
  }

  TEST_CASE("products are the CPU's one either side of every tile size in k") {
    OnDevice on;
    codec::CoefficientStream random(2, 3);
    for (const Path path : paths_of(on.device)) {
      for (const std::size_t n : {20, 50, 90, 128, 200}) {
        for (const std::size_t k : {1,   2,   3,   4,   5,   7,    8,    9,    15,   16,  17,  31,
                                    32,  33,  63,  64,  65,  127,  128,  129,  255,  256, 257, 511,
                                    512, 513, 767, 768, 769, 1023, 1024, 1025, 2049, 5000}) {
          check_product(on, {2, n, n, k}, path, random);
        }
      }
    }
  }

  TEST_CASE("long blocks, which have a kernel of their own for some n") {
    OnDevice on;
    codec::CoefficientStream random(2, 11);
    for (const Path path : paths_of(on.device)) {
      for (const std::size_t k : {8191, 8192, 8193, 8447, 8448, 8449}) {
        for (const std::size_t n : {96, 97, 127, 128}) {
          check_product(on, {2, n, 65, k}, path, random, {.out_gap = 16});
        }
      }
      check_product(on, {150, 100, 129, 8500}, path, random);
      for (const std::size_t m : {1, 31, 32, 33, 64, 127, 128, 257}) {
        check_product(on, {1, 110, m, 8200}, path, random);
      }
    }
  }

  TEST_CASE("a generation's own shape is taken, n by n, with long blocks") {
    OnDevice on;
    codec::CoefficientStream random(2, 4);
    for (const Path path : paths_of(on.device)) {
      for (const std::size_t n : {64, 128, 256, 512, 1024}) {
        check_product(on, {3, n, n, 4096}, path, random);
      }
      check_product(on, {1, 32, 32, (1 << 20) + 5}, path, random);
    }
  }

  TEST_CASE("batches far larger than the device has multiprocessors are worked off") {
    OnDevice on;
    codec::CoefficientStream random(2, 5);
    for (const Path path : paths_of(on.device)) {
      check_product(on, {700, 64, 64, 600}, path, random);
      check_product(on, {500, 128, 128, 300}, path, random);
      check_product(on, {200, 160, 130, 270}, path, random);
      check_product(on, {300, 60, 200, 900}, path, random);  // several groups of rows and chunks
      check_product(on, {300, 100, 300, 700}, path, random);
      check_product(on, {70000, 2, 3, 20}, path, random);
      check_product(on, {40000, 129, 1, 16}, path, random);
    }
  }

  TEST_CASE("a generation alone is cut into parts of its rows, which need not be equal") {
    OnDevice on;
    codec::CoefficientStream random(2, 10);
    for (const Path path : paths_of(on.device)) {
      check_product(on, {1, 300, 700, 5000}, path, random);
      check_product(on, {1, 512, 8300, 40}, path, random);
      check_product(on, {3, 130, 257, 3000}, path, random);
    }
  }

  TEST_CASE("with little scratch memory a batch is worked on in slices") {
    OnDevice on;
    codec::CoefficientStream random(2, 6);
    for (const Path path : paths_of(on.device)) {
      for (const std::size_t slice : {1, 2, 5}) {
        check_product(on, {7, 300, 200, 500}, path, random, {.scratch_generations = slice});
      }
    }
  }

  TEST_CASE("bytes between blocks are left alone") {
    OnDevice on;
    codec::CoefficientStream random(2, 7);
    for (const Path path : paths_of(on.device)) {
      for (const std::size_t n : {64, 128, 256}) {
        check_product(on, {3, n, 50, 333}, path, random, {.source_gap = 16, .out_gap = 48});
      }
    }
  }

  TEST_CASE("misaligned blocks take the path by tables, and are refused by the other") {
    OnDevice on;
    codec::CoefficientStream random(2, 8);
    for (const std::size_t offset : {1, 2, 4, 8, 15}) {
      check_product(on, {2, 70, 70, 700}, Path::kBest, random, {.offset = offset});
      check_product(on, {2, 70, 70, 700}, Path::kBest, random, {.source_gap = offset});
      check_product(on, {2, 70, 70, 700}, Path::kBest, random, {.out_gap = offset});
    }
    Guarded memory(on.stream, 1 << 20);
    const Status status =
        launch_product(on.stream, {1, 16, 16, 100}, memory.data(), {memory.data() + 1, 112},
                       {memory.data() + 4096, 112}, {}, Path::kWgmma);
    CHECK(status.code == Code::kUnsupported);
  }

  TEST_CASE("coefficients and data of all ones and all zeros are no exception") {
    OnDevice on;
    for (const Path path : paths_of(on.device)) {
      for (const std::size_t n : {64, 128, 512}) {
        const Shape shape{1, n, n, 512};
        Bytes coefficients(n * n, 0xff), source(n * 512, 0xff);
        std::fill_n(coefficients.begin(), n, 0);
        Guarded c(on.stream, coefficients), b(on.stream, source), out(on.stream, n * 512);
        const ScratchSize size = product_scratch(on.device, shape, path);
        Guarded scratch(on.stream, size.best);
        require(launch_product(on.stream, shape, c.data(), {b.data(), 512}, {out.data(), 512},
                               {scratch.data(), size.best}, path));
        Bytes wanted(n * 512);
        multiply_on_cpu(shape, coefficients, source, 512, wanted, 512);
        INFO(describe(shape), " path=", name(path));
        check_equal(out.read(), wanted);
      }
    }
  }

  TEST_CASE("shapes that cannot be are refused before anything is queued") {
    OnDevice on;
    Guarded memory(on.stream, 1 << 16);
    const auto launch = [&](const Shape& shape, std::size_t pitch) {
      return launch_product(on.stream, shape, memory.data(), {memory.data(), pitch},
                            {memory.data(), pitch}, {})
          .code;
    };
    CHECK(launch({1, 0, 1, 1}, 16) == Code::kUnsupported);
    CHECK(launch({1, 1025, 1, 1}, 16) == Code::kUnsupported);
    CHECK(launch({1, 1, 0, 1}, 16) == Code::kUnsupported);
    CHECK(launch({1, 1, 1, 0}, 16) == Code::kUnsupported);
    CHECK(launch({1, 1, 1, 17}, 16) == Code::kUnsupported);
    CHECK(launch({0, 1, 1, 1}, 16) == Code::kOk);
    const Bytes after = memory.read();
    CHECK(std::count(after.begin(), after.end(), Guarded::kPoison) == 1 << 16);
  }
}

}  // namespace firn::cuda
