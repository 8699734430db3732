#include "client/app/reading/file_output.h"

#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>
#include <vector>

#include "proto/base/start_thread.h"
#include "proto/base/within_memory.h"

namespace firn::app {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
// A pipe that polls as writable takes so much without blocking, so that stopping never waits for
// its reader.
constexpr std::size_t kWriteBytes = PIPE_BUF;

}  // namespace

Error output_error(int number) {
  Error error = error_from_errno(kWritingOut, number);
  if (number == EPIPE)
    error.code = ErrorCode::kUnreachable;
  else if (error.code != ErrorCode::kDiskFull)
    error.code = ErrorCode::kIo;
  return error;
}

FileOutput::FileOutput(std::shared_ptr<ContentReading> content, std::size_t file,
                       UniqueFd descriptor, std::function<void()> ended)
    : content_(std::move(content)),
      file_(file),
      output_(std::move(descriptor)),
      ended_(std::move(ended)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      descriptor_error_(wake_.get() < 0 || output_.get() < 0 ? errno : 0) {
  auto started = start_thread("standard output", [this] {
    end(within_memory(kWritingOut, [this] { return write_all(); }));
  });
  if (started.ok()) {
    thread_ = *std::move(started);
  } else {
    end(started.error());
  }
}

FileOutput::~FileOutput() {
  stopping_ = true;
  wake();
  if (thread_.joinable()) thread_.join();
}

void FileOutput::end(Status result) {
  {
    const std::lock_guard lock(mutex_);
    result_ = std::move(result);
  }
  ended_();
}

std::optional<Status> FileOutput::result() const {
  const std::lock_guard lock(mutex_);
  return result_;
}

Status FileOutput::write_all() {
  if (descriptor_error_ != 0) return output_error(descriptor_error_);
  const auto file = content_->open(file_, [this] { wake(); });
  if (!file.ok()) return file.error();
  std::vector<std::uint8_t> buffer(kReadBytes);
  for (std::uint64_t offset = 0; offset < (*file)->bytes();) {
    const auto bytes = (*file)->read(offset, buffer);
    if (!bytes.ok()) return bytes.error();
    const Status went_on = *bytes == 0 ? await(0) : write(std::span(buffer).first(*bytes));
    if (!went_on.ok()) return went_on;
    offset += *bytes;
  }
  // Some file systems say only now that the disk is full.
  if (::close(output_.release()) != 0 && errno != EINTR) return output_error(errno);
  return Done{};
}

Status FileOutput::write(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    if (const Status writable = await(POLLOUT); !writable.ok()) return writable;
    const ssize_t taken = ::write(output_.get(), bytes.data(), std::min(bytes.size(), kWriteBytes));
    if (taken >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(taken));
    } else if (errno != EINTR && errno != EAGAIN) {
      return output_error(errno);
    }
  }
  return Done{};
}

// Until the output takes more, if `output_events` says so; else until wake(). An error if the
// output's reader goes meanwhile.
Status FileOutput::await(short output_events) {
  pollfd polled[] = {{wake_.get(), POLLIN, 0}, {output_.get(), output_events, 0}};
  if (::poll(polled, 2, -1) < 0 && errno != EINTR) return output_error(errno);
  if (stopping_) return Error{ErrorCode::kCancelled, kWritingOut, "stopped"};
  std::uint64_t count = 0;
  if ((polled[0].revents & POLLIN) != 0) (void)!::read(wake_.get(), &count, sizeof count);
  if (output_events == 0 && polled[1].revents != 0) return output_error(EPIPE);
  return Done{};
}

void FileOutput::wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

}  // namespace firn::app
