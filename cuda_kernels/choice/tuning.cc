#include "cuda_kernels/choice/tuning.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "cuda_kernels/runtime/cache_file.h"
#include "cuda_kernels/runtime/cuda_calls.h"

namespace firn::cuda {
namespace {

constexpr std::size_t kSizes[] = {32, 64, 128, 256, 512, 1024};
constexpr std::size_t kRows[] = {8, 32, 128, 0};  // 0: all above; measured with m = n
constexpr std::size_t kBytes[] = {1024, 4096, 16384};
constexpr std::size_t kFewPositions = 32768;

template <std::size_t kCount>
std::size_t first_at_least(const std::size_t (&bounds)[kCount], std::size_t value) {
  for (std::size_t i = 0; i + 1 < kCount; ++i) {
    if (value <= bounds[i]) return i;
  }
  return kCount - 1;
}

}  // namespace

std::size_t tuning_class(const Shape& shape) {
  const bool many = shape.generations > kFewPositions / std::max<std::size_t>(1, shape.block_bytes);
  std::size_t index = first_at_least(kSizes, shape.generation_size);
  index = index * std::size(kRows) + first_at_least(kRows, shape.rows);
  index = index * std::size(kBytes) + first_at_least(kBytes, shape.block_bytes);
  return index * 2 + (many ? 1 : 0);
}

Shape tuning_shape(std::size_t tuning_class) {
  // As much as fills a large device a few times over, so that it is the rate that is measured.
  constexpr std::size_t kManyBytes = std::size_t{32} << 20;
  Shape shape;
  const bool many = tuning_class % 2 == 1;
  tuning_class /= 2;
  shape.block_bytes = kBytes[tuning_class % std::size(kBytes)];
  tuning_class /= std::size(kBytes);
  shape.rows = kRows[tuning_class % std::size(kRows)];
  shape.generation_size = kSizes[tuning_class / std::size(kRows)];
  if (shape.rows == 0) shape.rows = std::max<std::size_t>(shape.generation_size, 160);
  const std::size_t taken = std::max(shape.generation_size, shape.rows) * shape.block_bytes;
  shape.generations =
      many ? std::max(kManyBytes / taken, 2 * kFewPositions / shape.block_bytes) : 1;
  return shape;
}

namespace {

// What a tuning holds for. The last line changes when a kernel does.
std::string device_text(const Device& device) {
  static const calls::Versions versions = calls::versions();
  return "firn gpu tuning\ndevice " + device.name + "\ncapability " + std::to_string(device.major) +
         "." + std::to_string(device.minor) + "\nmultiprocessors " +
         std::to_string(device.multiprocessors) + "\ndriver " + std::to_string(versions.driver) +
         "\nruntime " + std::to_string(versions.runtime) + "\nkernels 4\n";
}

bool valid(const Device& device, const ProductChoice& choice) {
  const bool warps = choice.row_warps == 2 || choice.row_warps == 4 || choice.row_warps == 8;
  return has_path(device, choice.path) &&
         (choice.path == Path::kMma ? warps : choice.row_warps == 0);
}

}  // namespace

std::string tuning_file_name(const Device& device) {
  return "gpu-" + cache_hash(device_text(device)) + ".tuning";
}

std::string tuning_text(const Device& device, const Tuning& tuning) {
  std::string text = device_text(device);
  for (std::size_t i = 0; i < tuning.size(); ++i) {
    text += std::to_string(i) + ' ' + std::string(name(tuning[i].path)) + ' ' +
            std::to_string(tuning[i].row_warps) + '\n';
  }
  return text + "sum " + cache_hash(text) + '\n';
}

bool parse_tuning(const std::string& text, const Device& device, Tuning& tuning) {
  const std::string head = device_text(device);
  if (!text.starts_with(head)) return false;
  std::string_view rest = std::string_view(text).substr(head.size());
  Tuning read{};
  for (std::size_t i = 0; i < read.size(); ++i) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    bool found = false;
    for (const Path path : kPaths) {
      for (const int warps : {0, 2, 4, 8}) {
        const std::string wanted =
            std::to_string(i) + ' ' + std::string(name(path)) + ' ' + std::to_string(warps);
        if (line == wanted && valid(device, {path, warps})) read[i] = {path, warps}, found = true;
      }
    }
    if (!found || line.size() == rest.size()) return false;
    rest.remove_prefix(line.size() + 1);
  }
  if (text != tuning_text(device, read)) return false;
  tuning = read;
  return true;
}

}  // namespace firn::cuda
