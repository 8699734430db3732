#include "proto/transport/socket_bio.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "proto/base/stage_times.h"

namespace firn::proto::transport {
namespace {

SocketEnd& end_of(BIO* bio) {
  return *static_cast<SocketEnd*>(BIO_get_data(bio));
}

bool may_pass(int error_number) {
  return error_number == EAGAIN || error_number == EWOULDBLOCK || error_number == EINTR;
}

int read_socket(BIO* bio, char* into, int bytes) {
  BIO_clear_retry_flags(bio);
  SocketEnd& end = end_of(bio);
  if (end.refused) {
    errno = EPROTO;
    return -1;
  }
  if (end.drained) {
    errno = EAGAIN;
    BIO_set_retry_read(bio);
    return -1;
  }
  ssize_t got = 0;
  {
    const StageScope stage(Stage::kNetwork);
    got = ::recv(end.fd, into, static_cast<std::size_t>(bytes), 0);
  }
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  if (got < 0 && may_pass(errno)) BIO_set_retry_read(bio);
  end.drained = got > 0 && got < bytes;
  return static_cast<int>(got);
}

ssize_t send_to(const SocketEnd& end, const char* from, std::size_t bytes) {
  const StageScope stage(Stage::kNetwork);
  return ::send(end.fd, from, bytes, MSG_NOSIGNAL | (end.more_follows ? MSG_MORE : 0));
}

// False if some of it is left: errno says why.
bool send_kept(SocketEnd& end) {
  while (!end.kept.empty()) {
    const ssize_t put = send_to(end, end.kept.data(), end.kept.size());
    if (put < 0) return false;
    end.kept.erase(0, static_cast<std::size_t>(put));
  }
  return true;
}

int write_socket(BIO* bio, const char* from, int bytes) {
  BIO_clear_retry_flags(bio);
  SocketEnd& end = end_of(bio);
  const auto whole = static_cast<std::size_t>(bytes);
  ssize_t put = send_kept(end) ? send_to(end, from, whole) : -1;
  const bool blocked = put < 0 && may_pass(errno);
  if (end.keeps && (blocked || (put >= 0 && put < bytes))) {
    end.kept.append(from + std::max<ssize_t>(put, 0), from + whole);
    return bytes;
  }
  if (blocked) BIO_set_retry_write(bio);
  return static_cast<int>(put);
}

long control(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_FLUSH:  // nothing is kept back
      return 1;
    case BIO_CTRL_EOF:
      return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    default:
      return 0;
  }
}

int create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

BIO_METHOD* make_method() {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket end");
  if (method == nullptr) return nullptr;
  BIO_meth_set_create(method, create);
  BIO_meth_set_read(method, read_socket);
  BIO_meth_set_write(method, write_socket);
  BIO_meth_set_ctrl(method, control);
  return method;
}

}  // namespace

BIO* make_socket_bio(SocketEnd& end) {
  static BIO_METHOD* const method = make_method();  // for the life of the process
  BIO* bio = method != nullptr ? BIO_new(method) : nullptr;
  if (bio != nullptr) BIO_set_data(bio, &end);
  return bio;
}

}  // namespace firn::proto::transport
