// Writes one file of a content to a pipe, a file or a device, in order, as it comes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "client/app/reading/content_reading.h"
#include "proto/base/result.h"
#include "proto/base/unique_fd.h"

namespace firn::app {

// How errors of output_error() name what failed.
inline constexpr const char* kWritingOut = "write to standard output";
// What errno says of a write to standard output: kDiskFull, kIo, or kUnreachable (the reader of the
// pipe has gone).
Error output_error(int number);

// Main thread; reads and writes on a thread of its own. A reader of the pipe that is slow holds up
// that thread alone.
class FileOutput {
 public:
  // `descriptor`: taken over, and closed after the last byte. `ended`: called once, by that thread
  // as its last act, or at once if there can be no thread.
  FileOutput(std::shared_ptr<ContentReading> content, std::size_t file, UniqueFd descriptor,
             std::function<void()> ended);
  // Stops.
  ~FileOutput();

  // nullopt: it is at work. Errors: those of ReadableFile; kDiskFull, kIo (the descriptor took no
  // more); kUnreachable (the reader of the pipe has gone).
  std::optional<Status> result() const;

 private:
  void end(Status result);
  Status write_all();
  Status write(std::span<const std::uint8_t> bytes);
  Status await(short output_events);
  void wake();  // any thread

  const std::shared_ptr<ContentReading> content_;
  const std::size_t file_;
  UniqueFd output_;
  const std::function<void()> ended_;
  const UniqueFd wake_;         // an eventfd
  const int descriptor_error_;  // errno if a descriptor is missing, else 0
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  std::optional<Status> result_;
  std::thread thread_;
};

}  // namespace firn::app
