#include "tests/tracker_load/torrent_party.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace firn::tracker_load {
namespace {

constexpr std::size_t kCompactPeerBytes = 6;           // IPv4 (BEP 23)
constexpr std::uint64_t kUdpProtocol = 0x41727101980;  // BEP 15
constexpr std::size_t kUdpReplyHead = 20;
constexpr TimeUs kUdpPatience = kSecond / 4;
enum UdpAction : std::uint32_t { kConnect = 0, kAnnounce = 1 };

Error torrent_failure(const char* what) {
  return {ErrorCode::kUnreachable, "ask the BitTorrent tracker", what};
}

std::string percent(const std::uint8_t* bytes, std::size_t count) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += {'%', kHex[bytes[i] >> 4], kHex[bytes[i] & 15]};
  return text;
}

std::array<std::uint8_t, kTorrentHashBytes> peer_name(std::size_t number) {
  std::array<std::uint8_t, kTorrentHashBytes> name{};
  name.fill('-');
  std::memcpy(name.data(), &number, sizeof number);
  return name;
}

template <class Number>
void put(std::string& to, Number number) {
  for (int shift = static_cast<int>(sizeof number) * 8 - 8; shift >= 0; shift -= 8)
    to += static_cast<char>(number >> shift);
}

template <class Number>
Number get(const std::uint8_t* from) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i)
    number = static_cast<Number>(number << 8 | from[i]);
  return number;
}

}  // namespace

HttpParty::HttpParty(const proto::transport::SocketAddress& target, const Workload& workload,
                     std::size_t number, Tally& tally)
    : target_(target), number_(number), tally_(tally) {
  const auto name = peer_name(number);
  for (const std::uint32_t content : workload.contents_of(number))
    requests_.push_back("GET /announce?info_hash=" +
                        percent(workload.id_of(content).bytes.data(), kTorrentHashBytes) +
                        "&peer_id=" + percent(name.data(), name.size()) +
                        "&port=4000&uploaded=0&downloaded=0" +
                        "&left=" + (workload.is_complete(number) ? "0" : "1000") +
                        "&compact=1&numwant=" + std::to_string(workload.options().peers_wanted) +
                        " HTTP/1.0\r\nHost: tracker\r\n\r\n");
}

Status HttpParty::begin(TimeUs now) {
  auto socket = connect_from(source_ip(number_), target_, true);
  if (!socket.ok()) return socket.error();
  socket_ = *std::move(socket);
  in_.clear();
  sent_ = false;
  wants_to_write_ = true;
  asked_at_ = now;
  return Done{};
}

Status HttpParty::go_on(TimeUs now) {
  if (!sent_) {
    const std::string& request = requests_[asked_++ % requests_.size()];
    const ssize_t put = ::send(fd(), request.data(), request.size(), MSG_NOSIGNAL);
    if (put != static_cast<ssize_t>(request.size()))
      return error_from_errno("ask the BitTorrent tracker", errno);
    sent_ = true;
    wants_to_write_ = false;
    return Done{};
  }
  for (;;) {
    std::array<char, 4096> part{};
    const ssize_t got = ::recv(fd(), part.data(), part.size(), 0);
    if (got < 0 && errno == EAGAIN) return Done{};
    if (got < 0) return error_from_errno("ask the BitTorrent tracker", errno);
    if (got == 0) break;
    in_.append(part.data(), static_cast<std::size_t>(got));
  }
  const std::size_t peers_at = in_.find("5:peers");
  if (peers_at == std::string::npos) return torrent_failure("no peers in its reply");
  const std::size_t bytes = std::strtoul(in_.c_str() + peers_at + 7, nullptr, 10);
  tally_.answered(now - asked_at_, bytes / kCompactPeerBytes, in_.size());
  socket_.reset();  // the crowd begins it again
  return Done{};
}

UdpParty::UdpParty(const proto::transport::SocketAddress& target, const Workload& workload,
                   const PartyOptions& options, std::size_t number, Tally& tally)
    : target_(target),
      workload_(workload),
      options_(options),
      number_(number),
      contents_(workload.contents_of(number)),
      complete_(workload.is_complete(number)),
      tally_(tally),
      asked_at_(options.in_flight) {}

Status UdpParty::begin(TimeUs now) {
  heard_at_ = now;
  auto socket = connect_from(source_ip(number_), target_, false);
  if (!socket.ok()) return socket.error();
  socket_ = *std::move(socket);
  send_connect();
  return Done{};
}

void UdpParty::send_connect() {
  std::string packet;
  put(packet, kUdpProtocol);
  put(packet, std::uint32_t{kConnect});
  put(packet, std::uint32_t{0});
  (void)::send(fd(), packet.data(), packet.size(), MSG_NOSIGNAL);
}

bool UdpParty::ask(TimeUs due) {
  if (!open_ || waiting_ >= options_.in_flight) return false;
  send_announce(due);
  return true;
}

void UdpParty::send_announce(TimeUs now) {
  const auto transaction = static_cast<std::uint32_t>(asked_++);
  asked_at_[transaction % asked_at_.size()] = now;
  ++waiting_;
  const auto& hash = workload_.id_of(contents_[transaction % contents_.size()]).bytes;
  const auto name = peer_name(number_);
  std::string packet;
  put(packet, connection_);
  put(packet, std::uint32_t{kAnnounce});
  put(packet, transaction);
  packet.append(reinterpret_cast<const char*>(hash.data()), kTorrentHashBytes);
  packet.append(reinterpret_cast<const char*>(name.data()), name.size());
  put(packet, std::uint64_t{0});                       // downloaded
  put(packet, std::uint64_t{complete_ ? 0u : 1000u});  // left
  put(packet, std::uint64_t{0});                       // uploaded
  put(packet, std::uint32_t{0});                       // event: none
  put(packet, std::uint32_t{0});                       // its address: as seen
  put(packet, static_cast<std::uint32_t>(number_));    // key
  put(packet, workload_.options().peers_wanted);
  put(packet, std::uint16_t{4000});
  (void)::send(fd(), packet.data(), packet.size(), MSG_NOSIGNAL);
}

// Datagrams are lost where the tracker's buffer is full. A reply that comes after all is dropped.
void UdpParty::look(TimeUs now) {
  if (now - heard_at_ < kUdpPatience) return;
  heard_at_ = now;
  if (!open_) return send_connect();
  waiting_ = 0;
  while (options_.asks_by_itself && ask(now)) {
  }
}

Status UdpParty::go_on(TimeUs now) {
  std::array<std::uint8_t, 4096> packet{};
  for (;;) {
    const ssize_t got = ::recv(fd(), packet.data(), packet.size(), 0);
    if (got < 0 && errno == EAGAIN) return Done{};
    if (got < 0) return error_from_errno("ask the BitTorrent tracker", errno);
    if (const Status taken = take(packet.data(), static_cast<std::size_t>(got), now); !taken.ok())
      return taken;
  }
}

Status UdpParty::take(const std::uint8_t* bytes, std::size_t count, TimeUs now) {
  if (count < 16) return torrent_failure("a packet that is too short");
  const auto action = get<std::uint32_t>(bytes);
  const auto transaction = get<std::uint32_t>(bytes + 4);
  heard_at_ = now;
  if (action == kConnect) {
    if (open_) return Done{};
    connection_ = get<std::uint64_t>(bytes + 8);
    open_ = true;
    ++tally_.open;
  } else if (action == kAnnounce && count >= kUdpReplyHead) {
    if (waiting_ == 0) return Done{};
    --waiting_;
    tally_.answered(now - asked_at_[transaction % asked_at_.size()],
                    (count - kUdpReplyHead) / kCompactPeerBytes, count);
  } else {
    return torrent_failure("an error, or a packet that nothing asked for");
  }
  while (options_.asks_by_itself && ask(now)) {
  }
  return Done{};
}

}  // namespace firn::tracker_load
