// Check sums of a generation whose source blocks a device keeps: made there, for a key on the way
// in and the sums on the way out. A worker would hash every byte of them, and first read it where
// it is not in memory any more (docs/lab/066-gpu-hash.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/task_line.h"
#include "client/checks/set_key.h"

namespace firn::app {

// Owner thread.
class KeptSums {
 public:
  // n * t bytes, or none where no device keeps the generation.
  using Made = std::function<void(std::vector<std::uint8_t> sums)>;

  KeptSums(std::shared_ptr<const CodedContent> content, TaskLine& tasks)
      : content_(std::move(content)), tasks_(tasks) {}

  // `made` is called before this returns if no device is likely to keep it.
  void make(const checks::SetKey& key, std::uint32_t generation, std::size_t tag_bytes, Made made);

 private:
  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
};

}  // namespace firn::app
