// Runs the parts of a large job. The codec asks for nothing more than this; a program may hand
// in its own pool, a ThreadPool, or SerialExecutor.
#pragma once

#include <cstddef>
#include <functional>

namespace firn::codec {

class Executor {
 public:
  virtual ~Executor() = default;

  // How many tasks can run at once; at least 1.
  virtual std::size_t threads() const = 0;
  // Runs task(0) .. task(count - 1), in any order and on any thread; returns when all have ended.
  // What they wrote is then visible to the caller. Tasks throw nothing and start no other run.
  virtual void run(std::size_t count, const std::function<void(std::size_t)>& task) = 0;
};

class SerialExecutor : public Executor {
 public:
  std::size_t threads() const override { return 1; }
  void run(std::size_t count, const std::function<void(std::size_t)>& task) override {
    for (std::size_t i = 0; i < count; ++i) task(i);
  }
};

}  // namespace firn::codec
