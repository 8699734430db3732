#include "client/app/push/byte_stream.h"

#include <uv.h>

#include <utility>

namespace firn::app {

struct ByteStream::Impl {
  union {
    uv_pipe_t pipe;
    uv_tcp_t tcp;
    uv_stream_t stream;
    uv_handle_t handle;
  };
  std::function<void(std::string_view)> bytes;
  std::function<void()> end;
  std::function<void()> written;
  bool reads = false, paused = false, ended = false, closed = false;
  char chunk[64 << 10];

  void update();
  void arrived(ssize_t count);
  static void over(Impl* impl, const std::function<void()>& callback) {
    if (callback && !impl->closed) callback();
  }
};

namespace {

struct StreamWrite {
  uv_write_t request;
  std::shared_ptr<const std::string> bytes;
};

}  // namespace

ByteStream::ByteStream(EventLoop& loop, Kind kind) : impl_(new Impl) {
  const int made = kind == Kind::kPipe ? uv_pipe_init(loop.uv(), &impl_->pipe, 0)
                                       : uv_tcp_init(loop.uv(), &impl_->tcp);
  FIRN_CHECK(made == 0);
  impl_->handle.data = impl_;
}

ByteStream::~ByteStream() {
  impl_->closed = true;
  uv_close(&impl_->handle, [](uv_handle_t* handle) { delete static_cast<Impl*>(handle->data); });
}

Result<std::unique_ptr<ByteStream>> ByteStream::of_descriptor(EventLoop& loop, int descriptor) {
  auto stream = std::make_unique<ByteStream>(loop, Kind::kPipe);
  const uv_handle_type type = uv_guess_handle(descriptor);
  const int opened = type == UV_NAMED_PIPE || type == UV_TCP
                         ? uv_pipe_open(&stream->impl_->pipe, descriptor)
                         : UV_EINVAL;
  if (opened != 0)
    return Error{ErrorCode::kBadInput, "use descriptor " + std::to_string(descriptor),
                 "it is no pipe and no socket"};
  return stream;
}

uv_stream_s* ByteStream::uv() {
  return &impl_->stream;
}

void ByteStream::Impl::update() {
  const bool wanted = bytes && !paused && !ended;
  if (wanted == reads) return;
  reads = wanted;
  if (!wanted) {
    uv_read_stop(&stream);
    return;
  }
  const auto room = [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
    auto* const impl = static_cast<Impl*>(handle->data);
    *buffer = uv_buf_init(impl->chunk, sizeof impl->chunk);
  };
  const int error =
      uv_read_start(&stream, room, [](uv_stream_t* from, ssize_t count, const uv_buf_t*) {
        static_cast<Impl*>(from->data)->arrived(count);
      });
  if (error != 0) arrived(error);
}

void ByteStream::Impl::arrived(ssize_t count) {
  if (closed || count == 0) return;
  if (count > 0) return bytes({chunk, static_cast<std::size_t>(count)});
  ended = true;
  update();
  over(this, end);
}

void ByteStream::read(std::function<void(std::string_view)> bytes, std::function<void()> end) {
  impl_->bytes = std::move(bytes);
  impl_->end = std::move(end);
  impl_->update();
}

void ByteStream::pause(bool paused) {
  impl_->paused = paused;
  impl_->update();
}

void ByteStream::on_written(std::function<void()> written) {
  impl_->written = std::move(written);
}

void ByteStream::write(std::string bytes) {
  if (!bytes.empty()) write(std::make_shared<const std::string>(std::move(bytes)));
}

// A write that fails is of no interest: the end of what is read, or of the process, tells it too.
void ByteStream::write(std::shared_ptr<const std::string> bytes) {
  auto* const write = new StreamWrite{{}, std::move(bytes)};
  write->request.data = write;
  const uv_buf_t buffer = uv_buf_init(const_cast<char*>(write->bytes->data()),
                                      static_cast<unsigned>(write->bytes->size()));
  const auto done = [](uv_write_t* request, int) {
    auto* const impl = static_cast<Impl*>(request->handle->data);
    delete static_cast<StreamWrite*>(request->data);
    Impl::over(impl, impl->written);
  };
  if (uv_write(&write->request, &impl_->stream, &buffer, 1, done) != 0) delete write;
}

std::size_t ByteStream::unwritten() const {
  return uv_stream_get_write_queue_size(&impl_->stream);
}

void ByteStream::end_writing() {
  auto* const request = new uv_shutdown_t;
  const auto done = [](uv_shutdown_t* over, int) { delete over; };
  if (uv_shutdown(request, &impl_->stream, done) != 0) delete request;
}

}  // namespace firn::app
