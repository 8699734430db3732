#include "proto/transport/transport.h"

#include <utility>

#include "proto/transport/descriptors.h"
#include "proto/transport/io_loop.h"
#include "proto/transport/sockets.h"

namespace firn::proto::transport {
namespace {

// Sends each order to the thread where its connection lives.
class TlsTransport final : public Transport {
 public:
  TlsTransport(const Identity& identity, EventSink& sink, const Options& options, TlsContext tls,
               Source source)
      : shared_{
            identity,
            sink,
            options,
            std::move(tls),
            std::move(source),
            Admission(Admission::limits_for(options.connection_count_max, options.proven_give_way)),
            {},
            {},
            {},
            {},
            {}} {}

  ~TlsTransport() override {
    for (const auto& loop : shared_.loops) {
      FIRN_CHECK(!loop->on_this_thread());  // an event must not destroy its transport
      loop->ask_to_stop();
    }
    for (const auto& loop : shared_.loops) loop->join();
  }

  Status start_threads() {
    for (int i = 0; i < shared_.options.io_threads; ++i) {
      shared_.lags.emplace_back();
      shared_.loads.emplace_back();
    }
    for (int i = 0; i < shared_.options.io_threads; ++i) {
      shared_.loops.push_back(std::make_unique<IoLoop>(shared_, static_cast<std::size_t>(i)));
      if (Status started = shared_.loops.back()->start(); !started) return started;
    }
    return Done{};
  }

  Result<Address> listen(const Address& where) override {
    auto listening = open_listening(where, shared_.source);
    if (!listening) return listening.error();
    const Status fits = shared_.source.narrow_to(listening->address);
    if (!fits) return fits.error();
    Address bound{shared_.identity.id(), listening->address.ip(), listening->address.port()};
    shared_.loops.front()->mailbox().post(ListenOrder{std::move(listening->socket)});
    return bound;
  }

  ConnectionId connect(const Address& where) override {
    const ConnectionId id = shared_.new_connection();
    shared_.load_of(id).opened();
    shared_.loop_of(id).mailbox().post(ConnectOrder{id, where});
    return id;
  }

  void send(ConnectionId id, OutgoingFrame frame, FrameTag tag) override {
    shared_.loop_of(id).mailbox().post_send(id, std::move(frame), tag);
  }

  void send_run(ConnectionId id, std::vector<Block> blocks, std::size_t frame_bytes,
                FrameTag tag) override {
    shared_.loop_of(id).mailbox().post_run(id, std::move(blocks), frame_bytes, tag);
  }

  void close(ConnectionId id) override { shared_.loop_of(id).mailbox().post(CloseOrder{id}); }

  void pause_reading(ConnectionId id, bool paused) override {
    IoLoop& loop = shared_.loop_of(id);
    // On its own thread the pause holds from now on; the order keeps its place among others.
    if (paused && loop.on_this_thread()) {
      if (Connection* connection = loop.find(id)) connection->pause_reading(true);
    }
    loop.mailbox().post(PauseOrder{id, paused});
  }

  std::size_t thread_of(ConnectionId id) const override { return id % shared_.loops.size(); }

  std::chrono::microseconds lag_of(std::size_t thread) const override {
    return std::chrono::microseconds(shared_.lags[thread].us());
  }

  std::uint32_t times_on_way() const override {
    return shared_.times_on_way.load(std::memory_order_relaxed);
  }

  void wake(std::size_t thread) override { shared_.loops[thread]->wakeup().signal(); }

  void answer(ConnectionId id, std::span<const std::uint8_t> frames) override {
    IoLoop& loop = shared_.loop_of(id);
    FIRN_CHECK(loop.on_this_thread());
    if (Connection* connection = loop.find(id)) connection->answer(frames);
  }

  const PeerId& id() const override { return shared_.identity.id(); }

 private:
  Shared shared_;
};

}  // namespace

Status EventSink::on_payload(ConnectionId id, std::span<const std::uint8_t> head, Payload payload) {
  std::vector<std::uint8_t> frame(head.begin(), head.end());
  frame.insert(frame.end(), payload.bytes().begin(), payload.bytes().end());
  return on_frame(id, frame);
}

Result<std::unique_ptr<Transport>> Transport::start(const Identity& identity, EventSink& sink,
                                                    const Options& options) {
  FIRN_CHECK(options.io_threads > 0);
  auto tls = TlsContext::make(identity, options.records_per_key);
  if (!tls) return tls.error();
  Source source;
  if (!options.interface.empty()) {
    auto named = Source::of_interface(options.interface);
    if (!named) return named.error();
    source = *std::move(named);
  }
  Options within = options;
  within.connection_count_max =
      connections_within(options.connection_count_max, descriptor_limit());
  auto transport = std::make_unique<TlsTransport>(identity, sink, within, std::move(tls).value(),
                                                  std::move(source));
  if (Status started = transport->start_threads(); !started) return started.error();
  return std::unique_ptr<Transport>(std::move(transport));
}

}  // namespace firn::proto::transport
