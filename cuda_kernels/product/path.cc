#include "cuda_kernels/product/path.h"

namespace firn::cuda {

std::string_view name(Path path) {
  switch (path) {
    case Path::kBest:
      return "best";
    case Path::kTables:
      return "tables";
    case Path::kMma:
      return "mma";
    case Path::kWgmma:
      return "wgmma";
    case Path::kTower:
      return "tower";
  }
  return "unknown";
}

bool has_path(const Device& device, Path path) {
  switch (path) {
    case Path::kMma:
      return device.has_binary_mma();
    case Path::kWgmma:
    case Path::kTower:
      return device.has_binary_wgmma();
    default:
      return true;
  }
}

}  // namespace firn::cuda
