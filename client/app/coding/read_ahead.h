// Reads the next generation while one is being served: a source goes through its generations in
// sequence, and reading and hashing take time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/task_line.h"

namespace firn::app {

// Owner thread.
class ReadAhead {
 public:
  // The generation is in the cache, or could not be read.
  using Arrived = std::function<void(std::uint32_t generation)>;

  ReadAhead(std::shared_ptr<const CodedContent> content, TaskLine& tasks, Arrived arrived);

  // Does nothing before this: all generations are verified.
  void enable() { enabled_ = true; }
  // A block of a verified generation is asked for. `next_kept`: the generation after it has been
  // served, and its source blocks are kept elsewhere.
  void serving(std::uint32_t generation, bool next_kept);
  bool is_coming(std::uint32_t generation) const { return fetching_.contains(generation); }

 private:
  void fetch(std::uint32_t generation);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  const Arrived arrived_;
  bool enabled_ = false;
  std::uint32_t last_ = UINT32_MAX;     // served
  std::optional<std::uint32_t> front_;  // the highest generation served so far
  std::set<std::uint32_t> fetching_;
};

}  // namespace firn::app
