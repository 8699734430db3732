// Which kernel multiplies fastest: measured on the device at hand, in the spirit of the launch
// parameters that Briffa's MAP decoder (2014) finds on the device while it runs, and remembered.
//
// Shapes fall into classes by n, m, k and by how much there is at once; tune() times every kernel
// the device has on each class (a fraction of a second in all), and the answers serve for the rest
// of the process and, through a file in the user's cache folder, for later ones. The file is of one
// device model, driver and version of the kernels; any other file, or one that is damaged, is
// ignored and written anew. Without tune(), choices come from the device's properties.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/choice/product_choice.h"
#include "cuda_kernels/runtime/runtime.h"
#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

// The classes: n up to 32, 64, .. 1024; m up to 8, 32, 128, more; k up to 1 KiB, 4 KiB, more; and
// whether there are more than 32768 positions (generations times k) at once.
inline constexpr std::size_t kTuningClasses = 6 * 4 * 3 * 2;
std::size_t tuning_class(const Shape& shape);
// A shape of that class, which stands for it when it is measured.
Shape tuning_shape(std::size_t tuning_class);

using Tuning = std::array<ProductChoice, kTuningClasses>;

// What tune() found out for devices of this model, else default_choice(). Any thread.
ProductChoice product_choice(const Device& device, const Shape& shape);

enum class TuningSource {
  kRemembered,  // this process already had it
  kFile,
  kMeasured,
  kOff,  // FIRN_GPU_TUNING=off
};

// Makes product_choice() know this device. Takes up to about 700 MB of device memory while it
// measures; with less, or after an error, choices stay as they were. cache_folder: where the file
// is kept, made if it is missing; empty: no file. A file that cannot be written is no error. Any
// thread; two at once wait for each other.
Status tune(const Device& device, const std::string& cache_folder, TuningSource* source = nullptr);
// Forgets what this process knows, for tests.
void forget_tuning();

// The file's text and back; parsing takes nothing but the exact text of a tuning for that device.
std::string tuning_text(const Device& device, const Tuning& tuning);
bool parse_tuning(const std::string& text, const Device& device, Tuning& tuning);
std::string tuning_file_name(const Device& device);

}  // namespace firn::cuda
