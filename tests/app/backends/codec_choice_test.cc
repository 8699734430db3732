#include <doctest/doctest.h>

#include "client/app/backends/codec_choice.h"
#include "client/app/console/exit_codes.h"

namespace firn::app {
namespace {

TEST_CASE("the names of codecs are auto, cpu and gpu") {
  CHECK(parse_codec_mode("auto") == CodecMode::kAuto);
  CHECK(parse_codec_mode("cpu") == CodecMode::kCpu);
  CHECK(parse_codec_mode("gpu") == CodecMode::kGpu);
  for (const char* text : {"", "GPU", "gpus", "cuda"}) CHECK_FALSE(parse_codec_mode(text));
}

TEST_CASE("the CPU alone is a choice that looks for no device") {
  const auto choice = choose_codec(CodecMode::kCpu);
  REQUIRE(choice.ok());
  CHECK(choice->devices.empty());
  CHECK(choice->text == "CPU");
}

TEST_CASE("without a GPU, auto means the CPU and says why, and gpu is an error of its own") {
  const auto automatic = choose_codec(CodecMode::kAuto);
  REQUIRE(automatic.ok());
  const auto gpu = choose_codec(CodecMode::kGpu);
  CHECK(gpu.ok() == !cuda::devices().empty());
  if (gpu.ok()) {
    CHECK(automatic->devices.size() == gpu->devices.size());
    return;
  }
  CHECK(automatic->devices.empty());
  CHECK(automatic->text.find(cuda::no_device_reason()) != std::string::npos);
  CHECK(gpu.error().message().find(cuda::no_device_reason()) != std::string::npos);
  CHECK(gpu.error().message().find("--codec auto") != std::string::npos);
  CHECK(exit_code_of(gpu.error()) == ExitCode::kNoDevice);
}

}  // namespace
}  // namespace firn::app
