#include "client/app/push/receiving.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "client/app/net/interface_addresses.h"
#include "proto/base/address_kind.h"

namespace firn::app {
namespace {

using core::TimeUs;

constexpr TimeUs kTellEvery = core::kSecond;
constexpr std::size_t kReasonMax = 400;
// More than the pusher hears. What it does not read for so long is not worth keeping.
constexpr std::size_t kUnheardMax = 16 << 20;

}  // namespace

SshAddresses SshAddresses::of_environment() {
  const char* const said = std::getenv("SSH_CONNECTION");
  SshAddresses addresses;
  std::string port;
  if (said) std::istringstream(said) >> addresses.client >> port >> addresses.server;
  return addresses;
}

Result<PushOrder> read_order(int descriptor, PushFrameReader& reader) {
  const auto no = [](const char* why) {
    return Error{ErrorCode::kBadInput, "read the order of firn push", why};
  };
  if (::isatty(descriptor) == 1) return no("firn push starts this command on a host, through ssh");
  for (char chunk[4096];;) {
    auto frame = reader.next();
    if (!frame.ok()) return frame.error();
    if (*frame) return parse_order((*frame)->payload);
    const ssize_t count = ::read(descriptor, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return no("standard input has ended");
    reader.feed({chunk, static_cast<std::size_t>(count)});
  }
}

Receiving::Receiving(PeerDriver& driver, ContentSession& session, PushFrameReader reader,
                     const SshAddresses& addresses)
    : driver_(driver), session_(session), reader_(std::move(reader)), addresses_(addresses) {}

Result<ExitCode> Receiving::run() {
  EventLoop& loop = driver_.loop();
  auto in = ByteStream::of_descriptor(loop, STDIN_FILENO);
  if (!in.ok()) return in.error();
  auto out = ByteStream::of_descriptor(loop, STDOUT_FILENO);
  if (!out.ok()) return out.error();
  in_ = *std::move(in);
  out_ = *std::move(out);
  out_->on_written([this] { balance(); });
  in_->read([this](std::string_view bytes) { heard(bytes); }, [this] { driver_.stop(); });
  tell_ready();
  driver_.on_turn([this](TimeUs now) { return turn(now); });
  const ExitCode code = driver_.run();
  return told_complete_ ? ExitCode::kOk : code;
}

TimeUs Receiving::turn(TimeUs now) {
  take_frames();  // at first those behind the order
  const bool complete = session_.complete();
  if (session_.ended()) driver_.stop();
  if (now >= tell_at_ || (complete && !told_complete_)) {
    tell_at_ = now + kTellEvery;
    tell_progress();
    if (complete && !std::exchange(told_complete_, true))
      send(PushFrameKind::kControl, R"({"complete":true})");
  }
  return driver_.stopping() ? core::kNever : tell_at_;
}

// --- what the pusher says ---

void Receiving::heard(std::string_view bytes) {
  reader_.feed(bytes);
  driver_.loop().wake();
}

void Receiving::take_frames() {
  for (;;) {
    const auto next = reader_.next();
    if (!next.ok()) return driver_.stop();
    if (!*next) return;
    obey(**next);
  }
}

void Receiving::obey(const PushFrame& frame) {
  if (frame.kind != PushFrameKind::kControl) {
    if (tunnel_) tunnel_->take(frame);
    return balance();
  }
  const Json said = Json::parse(frame.payload, nullptr, false);
  if (!said.is_object()) return driver_.stop();
  if (said.contains("end")) return driver_.stop();
  if (said.contains("tunnel") && !tunnel_) {
    tunnel_ = std::make_unique<Tunnel>(
        driver_.loop(), driver_.listening().port,
        [this](PushFrameKind kind, std::string_view bytes) { send(kind, bytes); });
    tunnel_->on_written([this] { balance(); });
  }
  const auto peers = said.find("peers");
  if (peers == said.end() || !peers->is_array() || !session_.accepts_peers()) return;
  const bool in_private = in_private_range(interface_addresses());
  std::vector<proto::PeerEndpoint> endpoints;
  for (const Json& one : *peers) {
    const auto address = parse_address(one.is_string() ? one.get<std::string>() : "");
    if (address.ok() && address->id && may_be_named_by("", address->host, in_private))
      endpoints.push_back({*address->id, address->host, address->port});
  }
  session_.core().feed(&core::SwarmCore::peers_named, endpoints);
}

// --- what it is told ---

void Receiving::tell_ready() {
  std::string ip = addresses_.server.substr(0, addresses_.server.find('%'));
  for (const InterfaceAddress& own : interface_addresses())
    if (ip.empty() && !own.loopback && !own.link_local) ip = own.ip;
  const Json ready{
      {"ready", driver_.listening().port}, {"peer", driver_.id().text()}, {"address", ip}};
  send(PushFrameKind::kControl, ready.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void Receiving::tell_progress() {
  const ProgressFigures figures = session_.figures();
  const double part = share_of(figures).value_or(0);
  const auto done = static_cast<std::uint64_t>(part * static_cast<double>(figures.bytes_wanted));
  const bool checks = session_.plan().manifest && !session_.running() && !session_.complete();
  std::string reason = checks ? "checks what is there" : session_.waits_for().text;
  reason.resize(std::min(reason.size(), kReasonMax));
  Json progress{{"done", done},
                {"total", figures.bytes_wanted},
                {"rate", figures.down_rate},
                {"reason", reason}};
  if (checks) progress["checks"] = true;
  send(PushFrameKind::kControl,
       Json{{"progress", progress}}.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void Receiving::send(PushFrameKind kind, std::string_view payload) {
  if (out_->unwritten() > kUnheardMax) return driver_.stop();
  out_->write(push_frame(kind, payload));
  balance();
}

// Backpressure between the session and the tunnel.
void Receiving::balance() {
  if (!tunnel_) return;
  tunnel_->pause(out_->unwritten() > kTunnelBytesWaiting);
  in_->pause(tunnel_->unwritten() > kTunnelBytesWaiting);
}

}  // namespace firn::app
