// Bounds on accepted connections, so that one party cannot take all places.
// A party is taken to be a network (network_of: an IPv4 address, an IPv6 /64). Connections whose
// TLS handshake is not done have bounds of their own, as holding those takes no key.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace firn::proto::transport {

// Any thread. Must outlive its places.
class Admission {
 public:
  struct Limits {
    std::size_t of_network;  // connections
    std::size_t handshakes_of_network;
    std::size_t handshakes;  // in all
  };
  // A network gets a quarter of all places and a sixteenth of them for handshakes, handshakes half
  // of all; at least 16 each, so that small limits stay usable.
  static Limits limits_for(std::size_t connection_count_max);

  explicit Admission(const Limits& limits) : limits_(limits) {}

  // The place of one connection, given back when it is destroyed.
  class Place {
   public:
    Place(Place&& other) noexcept;
    Place& operator=(Place&&) = delete;
    ~Place();
    // The handshake is done.
    void opened();

   private:
    friend Admission;
    Place(Admission& owner, std::string network) : owner_(&owner), network_(std::move(network)) {}
    Admission* owner_;
    std::string network_;
    bool opened_ = false;
  };

  // Empty: turn it away.
  std::optional<Place> enter(const std::string& ip);

 private:
  struct Counts {
    std::size_t connections = 0;
    std::size_t handshakes = 0;
  };
  void handshake_done(const std::string& network);
  void leave(const std::string& network, bool opened);

  const Limits limits_;
  std::mutex mutex_;  // guards what follows
  std::unordered_map<std::string, Counts> networks_;
  std::size_t handshakes_ = 0;
};

}  // namespace firn::proto::transport
