#include "tests/swarm/tap_device.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace firn::swarm {

TapDevice::TapDevice(const std::string& network_namespace, const std::string& name, bool offload) {
  const int other = open(network_namespace.c_str(), O_RDONLY | O_CLOEXEC);
  if (other < 0 || setns(other, CLONE_NEWNET) != 0) fail("namespace " + network_namespace);
  if (other >= 0) close(other);
  if (!error_.empty()) return;
  fd_ = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) {
    fail("/dev/net/tun");
    return;
  }
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  request.ifr_flags = static_cast<short>(IFF_TAP | IFF_NO_PI | (offload ? IFF_VNET_HDR : 0));
  const unsigned kinds = offload ? TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 : 0;
  if (ioctl(fd_, TUNSETIFF, &request) != 0) {
    fail("interface " + name);
  } else if (ioctl(fd_, TUNSETOFFLOAD, kinds) != 0) {
    fail("offload of " + name);
  }
}

TapDevice::~TapDevice() {
  if (fd_ >= 0) close(fd_);
}

void TapDevice::fail(const std::string& what) {
  error_ = what + ": " + std::strerror(errno);
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

std::span<const std::uint8_t> TapDevice::read(std::span<std::uint8_t> buffer) const {
  const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
  return buffer.first(got > 0 ? static_cast<std::size_t>(got) : 0);
}

void TapDevice::write(std::span<const std::uint8_t> frame) const {
  // A frame that does not get through is a lost one, which is what links do.
  [[maybe_unused]] const ssize_t put = ::write(fd_, frame.data(), frame.size());
}

}  // namespace firn::swarm
