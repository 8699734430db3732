// What the self-tune finds out: for every class of shapes the kernel that multiplies fastest, and
// the text in which it is kept.
//
// Shapes fall into classes by n, m, k and by how much there is at once. The text is of one device
// model, driver and version of the kernels.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/choice/product_choice.h"
#include "cuda_kernels/runtime/device.h"

namespace firn::cuda {

// The classes: n up to 32, 64, .. 1024; m up to 8, 32, 128, more; k up to 1 KiB, 4 KiB, more; and
// whether there are more than 32768 positions (generations times k) at once.
inline constexpr std::size_t kTuningClasses = 6 * 4 * 3 * 2;
std::size_t tuning_class(const Shape& shape);
// A shape of that class, which stands for it when it is measured.
Shape tuning_shape(std::size_t tuning_class);

using Tuning = std::array<ProductChoice, kTuningClasses>;

// The file's text and back; parsing takes nothing but the exact text of a tuning for that device: a
// file that is damaged, or of another device, driver or version, is no tuning.
std::string tuning_text(const Device& device, const Tuning& tuning);
bool parse_tuning(const std::string& text, const Device& device, Tuning& tuning);
std::string tuning_file_name(const Device& device);

}  // namespace firn::cuda
