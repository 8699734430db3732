#include <doctest/doctest.h>

#include "on_device.h"

namespace firn::cuda {

TEST_SUITE("device") {
  TEST_CASE("the same seeds give the same coefficients on CPU and GPU") {
    OnDevice on;
    const std::uint64_t seed = 0x0123456789abcdef;
    for (const std::uint64_t stream : {std::uint64_t{0}, std::uint64_t{0xffffffff}}) {
      for (const std::uint64_t position : {std::uint64_t{0}, std::uint64_t{64} << 32}) {
        for (const std::size_t bytes : {1, 63, 64, 65, 4096, 9001}) {
          for (const std::size_t offset : {0, 1}) {
            const std::size_t generations = 5;
            Guarded out(on.stream, generations * bytes, offset);
            require(launch_coefficients(on.stream, seed, stream, position, generations, bytes,
                                        out.data()));
            Bytes wanted(generations * bytes);
            for (std::size_t g = 0; g < generations; ++g) {
              codec::CoefficientStream random(seed, stream + g);
              random.seek(position);
              random.fill(std::span(wanted).subspan(g * bytes, bytes));
            }
            INFO("stream=", stream, " position=", position, " bytes=", bytes, " offset=", offset);
            check_equal(out.read(), wanted);
          }
        }
      }
    }
  }

  TEST_CASE("more generations than a grid has rows all get coefficients") {
    OnDevice on;
    Guarded out(on.stream, 70000);
    require(launch_coefficients(on.stream, 1, 7, 0, 70000, 1, out.data()));
    Bytes wanted(70000);
    for (std::size_t g = 0; g < wanted.size(); ++g) {
      codec::CoefficientStream(1, 7 + g).fill(std::span(wanted).subspan(g, 1));
    }
    check_equal(out.read(), wanted);
  }

  TEST_CASE("coefficients start at a multiple of a block") {
    OnDevice on;
    Guarded out(on.stream, 64);
    CHECK(launch_coefficients(on.stream, 1, 1, 1, 1, 1, out.data()).code == Code::kUnsupported);
  }
}

}  // namespace firn::cuda
