// A TAP device: an Ethernet interface of some network namespace whose frames this process reads and
// writes. It is gone when it is closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace firn::swarm {

class TapDevice {
 public:
  // Makes `name` in the namespace of this path (/run/netns/...), in which the thread stays. With
  // `offload` frames may be as large as 64 KiB, with a virtio_net_hdr in front that says how to
  // cut them into segments; both ends of a link agree on it. On failure fd() is negative, and
  // error() says why.
  TapDevice(const std::string& network_namespace, const std::string& name, bool offload);
  ~TapDevice();
  TapDevice(const TapDevice&) = delete;
  TapDevice& operator=(const TapDevice&) = delete;

  int fd() const { return fd_; }
  const std::string& error() const { return error_; }

  // The next frame, in `buffer`; empty: none waits.
  std::span<const std::uint8_t> read(std::span<std::uint8_t> buffer) const;
  // What an interface that is not up does not take is dropped.
  void write(std::span<const std::uint8_t> frame) const;

 private:
  void fail(const std::string& what);

  int fd_ = -1;
  std::string error_;
};

// With its header.
inline constexpr std::size_t kTapFrameMax = (64 << 10) + 4096;

}  // namespace firn::swarm
