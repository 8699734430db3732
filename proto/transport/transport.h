// Encrypted, mutually authenticated streams of frames: TLS 1.3 (ALPN "firn/1") over TCP, libuv
// event loops on threads of their own. The one place of the project that knows sockets and TLS
// sessions. It knows frames, not messages.
//
// Flow: listen()/connect() -> on_open -> on_frame... / send()... -> on_close, exactly one on_close
// for each on_open and for each failed connect(). on_departed answers send() of a tagged frame.
//
// Threads: all public members may be called from any thread, also from within events. Events for
// one connection come one at a time, in order, on its I/O thread, and must not block. No events
// come after the destructor has returned.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proto/base/address.h"
#include "proto/base/address_range.h"
#include "proto/base/limits.h"
#include "proto/base/result.h"
#include "proto/base/stage_times.h"
#include "proto/messages.h"
#include "proto/payload_place.h"
#include "proto/transport/identity.h"
#include "proto/transport/replies.h"

namespace firn::proto::transport {

// Names a connection for the life of the transport; never reused.
using ConnectionId = std::uint64_t;

// Names a frame given to send(), for its sender alone: the other side does not see it.
using FrameTag = std::uint64_t;
inline constexpr FrameTag kUntagged = 0;

// Known to the two ends of one TLS session alone, and to both (RFC 8446, section 7.5): what is
// derived from it cannot be used in another session.
using SessionBinding = std::array<std::uint8_t, 32>;

struct PeerInfo {
  PeerId id;       // proven in the handshake
  std::string ip;  // numeric, without a zone
  std::uint16_t port = 0;
  bool outgoing = false;
  SessionBinding binding{};
  std::uint32_t round_trip_us = 0;  // shortest that the kernel saw in the handshakes; 0: not known
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  // The handshake is done and the other side's key fits what connect() asked for.
  virtual void on_open(ConnectionId, const PeerInfo&) = 0;
  // One whole frame without its length prefix; the view dies with the call. Returning an error
  // closes the connection with it, after frames sent before (a goodbye) are out.
  virtual Status on_frame(ConnectionId, std::span<const std::uint8_t> frame) = 0;
  // The same, for a sink that answers at once: what it puts into `replies`, whole frames, goes out
  // on this connection, behind all that it has sent before. The connection is not read on while the
  // other side does not take it.
  virtual Status on_request(ConnectionId id, std::span<const std::uint8_t> frame, Replies&) {
    return on_frame(id, frame);
  }
  // The same as on_frame, of a frame whose payload was received in place (Options::find_payload):
  // `head` is what comes before it.
  virtual Status on_payload(ConnectionId id, std::span<const std::uint8_t> head, Payload payload);
  // A frame sent with this tag has left: none of it waits in this process, in the kernel or before
  // the narrowest link of the path (backlog.h). Once for each tagged frame, in the order in which
  // they were sent. Frames that have not left when the connection closes are not told of, nor what
  // leaves after close().
  virtual void on_departed(ConnectionId, FrameTag) = 0;
  // The connection is gone. kCancelled: closed by close(). kProtocol: the other side broke the
  // rules of TLS or of frames, or on_frame said so. kWrongIdentity: from connect. Otherwise
  // kUnreachable or kIo: the network's fault.
  virtual void on_close(ConnectionId, const Error&) = 0;
  // An I/O thread has done all that it found to do, which may have brought events of several
  // connections: the time to wake the thread that looks after them.
  virtual void on_turn_over() {}
  // Options::tick has passed; on each I/O thread (0 and up).
  virtual void on_tick(std::size_t) {}
  // wake() was called for this I/O thread since the last of these.
  virtual void on_woken(std::size_t) {}
  // A connection of one of Options::proxies was closed, as no header came that says where it is
  // from; the error names the proxy. On the first I/O thread.
  virtual void on_proxy_refused(const Error&) {}
};

struct Options {
  int io_threads = 1;
  // Connections that come from one prefix (prefix_of) share a thread; else each comes to the thread
  // with least to do.
  bool threads_by_prefix = false;
  std::chrono::milliseconds connect_timeout{10'000};  // name, TCP and TLS together
  std::chrono::milliseconds idle_timeout{120'000};    // of receiving nothing; 0: never
  // The other side's kernel answers nothing for this time, neither what was sent nor a probe of an
  // idle connection: it is gone without a word. A machine that merely reads nothing does answer.
  // Noticed within twice this time. 0: never.
  std::chrono::milliseconds silence_timeout{30'000};
  std::size_t send_queue_bytes_max = 8u << 20;  // a connection past it is closed (kIo)
  int notsent_lowat_bytes = 64 << 10;           // TCP_NOTSENT_LOWAT
  // Above, or where descriptors are few (descriptors.h), connections are accepted only in exchange
  // for others, or wait to be accepted. One network gets a part of these places, and handshakes
  // under way another (proto/transport/admission.h): more are closed as they come.
  std::size_t connection_count_max = 4096;
  bool proven_give_way = false;  // where all are taken (Admission)
  // The first frame of a connection that was accepted: until then it is a stranger's, and there may
  // be thousands of them. Longer ones close it.
  std::size_t first_frame_bytes_max = limits::kFrameBytesMax;
  // A loop that moves little takes at most one turn in this time (loop_pace.h); 0: at once, always.
  std::chrono::milliseconds turn_interval{0};
  // While half of the loops are further behind (loop_lag.h), few new connections are accepted, and
  // the others wait in the kernel's queue; 0: never. Wants a tick, without which a loop that has
  // become idle still counts as behind.
  std::chrono::microseconds overload_lag{0};
  std::chrono::milliseconds tick{0};         // between two on_tick(); 0: none comes
  std::uint64_t records_per_key = 1u << 23;  // then the sender changes its TLS key
  // Listen, and connect, through this interface alone; empty: through any.
  std::string interface = {};
  // Proxies that put a header before each connection (proxy_header.h), which then counts as coming
  // from where it says. Connections of theirs that lack it are refused, and so are headers of
  // others.
  std::vector<AddressRange> proxies = {};
  bool is_proxy(const std::string& ip) const {
    return std::ranges::any_of(proxies, [&ip](const auto& range) { return range.contains(ip); });
  }
  // Payloads that it finds in frames that come are copied out of TLS straight to where they are to
  // stay, and told of by on_payload(). Null: frames are not looked into.
  FindPayload find_payload = nullptr;
  StageClock* stages = nullptr;  // where the I/O threads' time is counted; outlives the transport
};

class Transport {
 public:
  // Starts the I/O threads. `sink` must outlive the transport. Errors: kBadInput (the interface).
  static Result<std::unique_ptr<Transport>> start(const Identity& identity, EventSink& sink,
                                                  const Options& options = {});
  // Closes everything without further events. Until it returns, events may still come and may use
  // the transport, but not through the unique_ptr that is being reset (that is empty already).
  // Waits for name look-ups that have begun: the system's resolver cannot be interrupted.
  virtual ~Transport() = default;

  // Accepts connections at `where` (port 0: any) and says the address it got. A host name or
  // address; "" or "*" listens on IPv6 and IPv4 alike. What is one address is also the one that
  // connections go out from: call it before connect(). Errors: kExists (port in use), kBadInput.
  virtual Result<Address> listen(const Address& where) = 0;

  // Never fails at once: failure comes as on_close. A given id is enforced.
  virtual ConnectionId connect(const Address& where) = 0;

  // Queues one frame. Unknown or closing connections ignore it. With a tag, on_departed follows.
  virtual void send(ConnectionId, OutgoingFrame frame, FrameTag tag = kUntagged) = 0;
  // Queues several blocks, for the price of one; their frames are made on the connection's I/O
  // thread. `frame_bytes`: of all of them (wire_bytes). The tag is that of the last one.
  virtual void send_run(ConnectionId, std::vector<Block> blocks, std::size_t frame_bytes,
                        FrameTag tag) = 0;

  // Sends what is queued (for up to a second), then closes; on_close(kCancelled) follows.
  virtual void close(ConnectionId) = 0;

  // While paused, nothing more is read from the connection, so that TCP slows the other side down,
  // and the idle timeout looks at whether the other side takes what is sent, if anything is. Asked
  // for within on_frame of that connection, not one more frame comes; asked for elsewhere, frames
  // already read (some hundred KiB) may still come. A connection that is lost meanwhile is noticed
  // when reading goes on or a write fails.
  virtual void pause_reading(ConnectionId, bool paused) = 0;

  // For a sink that answers on the I/O threads. The one that a connection lives on, for life.
  virtual std::size_t thread_of(ConnectionId) const { return 0; }
  // How far its loop is behind; 0 where Options::overload_lag is.
  virtual std::chrono::microseconds lag_of(std::size_t) const { return {}; }
  // How many times as much may be on its way to others as where their acknowledgements waited for
  // nothing but our link (queue_trial.h): 1, 2, 4 and so on. Any thread.
  virtual std::uint32_t times_on_way() const { return 1; }
  // on_woken() follows on that thread; several calls may end in one.
  virtual void wake(std::size_t) {}
  // What goes out later than within on_request(), as whole frames; on the connection's thread. A
  // connection that was not to be read on until then (Replies::come_later) is.
  virtual void answer(ConnectionId, std::span<const std::uint8_t>) {}

  virtual const PeerId& id() const = 0;
};

}  // namespace firn::proto::transport
