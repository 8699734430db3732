// TLS 1.3 as the protocol wants it: ALPN "firn/1", both sides with a self-signed Ed25519
// certificate, no tickets, no resumption. The certificate is trusted for nothing but its key: the
// handshake proves that the other side holds it, and the peer id is its SHA-256.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "proto/base/ids.h"
#include "proto/base/result.h"
#include "proto/transport/identity.h"
#include "proto/transport/socket_bio.h"

namespace firn::proto::transport {

// A TLS record's plaintext; OpenSSL writes one record a call.
inline constexpr std::size_t kTlsRecordBytes = 16 << 10;

struct TlsFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* session) const { SSL_free(session); }
};

enum class TlsOutcome {
  kDone,       // read and write: `bytes` were moved
  kWantRead,   // nothing can be done until the socket is readable
  kWantWrite,  // ... writable
  kClosed,     // the other side closed, in order or not
  kFailed,     // see error()
};

struct TlsProgress {
  TlsOutcome outcome = TlsOutcome::kFailed;
  std::size_t bytes = 0;
};

// One connection's session over a non-blocking socket, which it does not own. One thread; that
// thread has SIGPIPE blocked.
class TlsSession {
 public:
  // Messages of TLS itself, and the records they lie in; a record of data makes up for one of them.
  // The handshake has a dozen; afterwards an honest end sends one in thousands of records, with its
  // new key.
  static constexpr std::uint32_t kMessagesMax = 64;

  TlsProgress handshake();
  // kWantRead stays the answer until look_again(), which is for a caller that has waited for the
  // socket. kFailed where more than kMessagesMax have come.
  TlsProgress read(std::span<std::uint8_t> into);
  void look_again() { socket_->drained = false; }
  // Writes at most one record. After kWantWrite the next call must bring the same bytes.
  // `more_follows`: the next call comes at once if this one brings all out, so that no segment need
  // go out that is not full.
  TlsProgress write(std::span<const std::uint8_t> from, bool more_follows = false);
  // Of a record that has begun to come, what is still missing, as ciphertext; 0 between records. So
  // much must come before read() can bring anything.
  std::size_t awaited_bytes() const;
  // Bytes taken from the socket since the session began.
  std::uint64_t received_bytes() const;
  // Tells the other side that no more will come. Never blocks; may fail silently.
  void say_goodbye();

  // Proven; after the handshake is done.
  const PeerId& peer() const { return peer_->id; }
  // A secret of this session's two ends (TLS exporter, label "EXPORTER-firn-private-v1", no
  // context); after the handshake is done.
  void export_binding(std::span<std::uint8_t> binding) const;
  // Why kFailed, for the operation `what`. kUnreachable or kIo where the network failed, kProtocol
  // where the other side did, or kWrongIdentity.
  Error error(std::string what) const;

 private:
  friend class TlsContext;
  // What the certificate callback needs to know, and what it found.
  struct Peer {
    std::optional<PeerId> expected;
    PeerId id;
    bool wrong = false;
    std::string complaint;
  };
  static int check_certificate(X509_STORE_CTX* store, void*);
  static void note_record(int sent, int, int content_type, const void* head, std::size_t bytes,
                          SSL*, void* incoming);

  TlsProgress outcome_of(int result, std::size_t bytes);
  TlsProgress change_key();
  TlsProgress write_record(std::span<const std::uint8_t> from);

  // What has come, as OpenSSL tells of it.
  struct Incoming {
    std::uint64_t records_end = 0;  // of all records whose head has come, in bytes
    std::uint32_t messages = 0;     // kMessagesMax
    SocketEnd* socket = nullptr;
  };

  std::unique_ptr<Peer> peer_;          // its address is known to OpenSSL,
  std::unique_ptr<SocketEnd> socket_;   // and of this
  std::unique_ptr<Incoming> incoming_;  // and of this
  std::unique_ptr<SSL, TlsFree> session_;
  std::uint64_t records_per_key_ = 0;
  std::uint64_t records_ = 0;  // sent under the present key
  std::string failure_;
  int failed_errno_ = 0;  // the failure is the socket's
};

// Makes sessions. Constant; any thread.
class TlsContext {
 public:
  enum class Side { kClient, kServer };

  // `records_per_key`: a session changes its key after sending this many (RFC 8446, 5.5 allows
  // 2^24.5 full records for AES-GCM).
  static Result<TlsContext> make(const Identity& identity, std::uint64_t records_per_key);
  // `expected`: the only peer id the handshake accepts. `keep_buffers`: 83 KiB stay with the
  // session while it is quiet, which otherwise are taken and given back for every few records.
  Result<TlsSession> session(Side side, int fd, std::optional<PeerId> expected,
                             bool keep_buffers = false) const;

 private:
  std::unique_ptr<SSL_CTX, TlsFree> context_;
  std::uint64_t records_per_key_ = 0;
};

}  // namespace firn::proto::transport
