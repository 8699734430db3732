#include "cuda_kernels/choice/tuner.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "limited_memory.h"
#include "on_device.h"

namespace firn::cuda {
namespace {

const Device kAmpere{0, "a card", 8, 6, 28, std::size_t{8} << 30};

// A folder that is not there yet, and is gone afterwards.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("firn-tuning-" + std::to_string(std::random_device{}()));
  ~Folder() { std::filesystem::remove_all(path); }
};

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

struct Environment {
  const char* name;
  Environment(const char* variable, const char* value) : name(variable) {
    setenv(variable, value, 1);
  }
  ~Environment() { unsetenv(name); }
};

Tuning some_tuning() {
  Tuning tuning{};
  for (std::size_t i = 0; i < tuning.size(); i += 3) tuning[i] = {Path::kMma, i % 2 == 0 ? 8 : 2};
  return tuning;
}

}  // namespace

TEST_CASE("every class of shapes has a shape that belongs to it") {
  for (std::size_t i = 0; i < kTuningClasses; ++i) CHECK(tuning_class(tuning_shape(i)) == i);
}

TEST_CASE("a tuning is read as it was written, and damaged or foreign text is not") {
  const Tuning written = some_tuning();
  const std::string text = tuning_text(kAmpere, written);
  Tuning tuning{};
  REQUIRE(parse_tuning(text, kAmpere, tuning));
  CHECK(tuning == written);

  Tuning untouched{};
  for (std::size_t i = 0; i < text.size(); i += 7) {
    std::string damaged = text;
    damaged[i] ^= 1;
    CHECK_FALSE(parse_tuning(damaged, kAmpere, untouched));
    CHECK_FALSE(parse_tuning(text.substr(0, i), kAmpere, untouched));
  }
  CHECK_FALSE(parse_tuning(text + "\n", kAmpere, untouched));
  Device other = kAmpere;
  other.multiprocessors = 30;
  CHECK_FALSE(parse_tuning(text, other, untouched));
  CHECK(tuning_file_name(other) != tuning_file_name(kAmpere));
  CHECK(untouched == Tuning{});
}

TEST_CASE("a tuning with a kernel that the device lacks is not taken") {
  Tuning tuning = some_tuning();
  tuning[5] = {Path::kWgmma, 0};
  Tuning read{};
  CHECK_FALSE(parse_tuning(tuning_text(kAmpere, tuning), kAmpere, read));
  tuning[5] = {Path::kMma, 3};
  CHECK_FALSE(parse_tuning(tuning_text(kAmpere, tuning), kAmpere, read));
}

TEST_CASE("choices from properties exist on the device") {
  for (const auto& [major, minor] : {std::pair{7, 5}, {8, 0}, {8, 9}, {9, 0}, {10, 0}}) {
    Device device = kAmpere;
    device.major = major, device.minor = minor;
    for (std::size_t i = 0; i < kTuningClasses; ++i) {
      CHECK(has_path(device, default_choice(device, tuning_shape(i)).path));
    }
  }
}

TEST_SUITE("device") {
  TEST_CASE("the self-tune is measured once and then read from its file, unless it is damaged") {
    const OnDevice on;
    const Folder folder;
    unsetenv("FIRN_GPU_TUNING");
    const auto path = folder.path / tuning_file_name(on.device);
    TuningSource source{};
    Tuner first;
    require(first.tune(on.device, folder.path.string(), &source));
    CHECK(source == TuningSource::kMeasured);
    require(first.tune(on.device, folder.path.string(), &source));
    CHECK(source == TuningSource::kRemembered);
    const std::string text = read(path);
    REQUIRE_FALSE(text.empty());

    Tuner second;
    require(second.tune(on.device, folder.path.string(), &source));
    CHECK(source == TuningSource::kFile);
    Tuning tuning{};
    REQUIRE(parse_tuning(text, on.device, tuning));
    for (std::size_t i = 0; i < kTuningClasses; ++i) {
      CHECK(second.choice(on.device, tuning_shape(i)) == tuning[i]);
    }

    std::ofstream(path, std::ios::binary | std::ios::trunc) << text.substr(0, text.size() / 2);
    Tuner third;
    require(third.tune(on.device, folder.path.string(), &source));
    CHECK(source == TuningSource::kMeasured);
    CHECK(parse_tuning(read(path), on.device, tuning));
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);

    setenv("FIRN_GPU_TUNING", "off", 1);
    Tuner fourth;
    require(fourth.tune(on.device, folder.path.string(), &source));
    CHECK(source == TuningSource::kOff);
    const Shape shape = tuning_shape(0);
    CHECK(fourth.choice(on.device, shape) == default_choice(on.device, shape));
  }

  TEST_CASE("without memory for the self-tune choices come from properties") {
    const OnDevice on;
    unsetenv("FIRN_GPU_TUNING");
    LimitedMemory memory(std::size_t{16} << 20);
    Tuner tuner;
    CHECK(tuner.tune(memory.of(on.device), "").code == Code::kOutOfMemory);
    setenv("FIRN_GPU_TUNING", "off", 1);
    const Shape shape = tuning_shape(7);
    CHECK(tuner.choice(on.device, shape) == default_choice(on.device, shape));
  }

  TEST_CASE("the environment names a path, and one that does not exist is refused in words") {
    OnDevice on;
    Guarded memory(on.stream, 1 << 16);
    const auto launch = [&] {
      return launch_product(on.stream, {1, 16, 16, 64}, memory.data(), {memory.data() + 4096, 64},
                            {memory.data() + 16384, 64}, {});
    };
    for (const Path path : paths_of(on.device)) {
      const Environment forced("FIRN_GPU_KERNELS", std::string(name(path)).c_str());
      const ScratchSize size = product_scratch(on.device, {1, 16, 16, 64});
      CHECK((size.least > 0) == (path == Path::kTower));
      if (size.least == 0) require(launch());
    }
    const Environment forced("FIRN_GPU_KERNELS", "wishes");
    const Status status = launch();
    CHECK(status.code == Code::kUnsupported);
    CHECK(status.detail.find("wishes") != std::string::npos);

    Device older = on.device;
    older.major = 7, older.minor = 5;
    CHECK_FALSE(has_path(older, Path::kMma));
    CHECK(has_path(older, Path::kTables));
  }
}

}  // namespace firn::cuda
