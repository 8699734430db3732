#include "proto/transport/tls.h"

#include <openssl/err.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "proto/base/stage_times.h"
#include "proto/transport/identity_impl.h"

namespace firn::proto::transport {
namespace {

constexpr unsigned char kAlpnList[] =
    "\x06"
    "firn/1";  // RFC 7301: length, name
constexpr std::size_t kAlpnListBytes = sizeof kAlpnList - 1;
constexpr std::string_view kAlpn = "firn/1";
constexpr const char* kCiphers =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
// Several records a read from the kernel. Freed while a connection is quiet, but for a few.
constexpr std::size_t kReadAheadBytes = 4 * (kTlsRecordBytes + SSL3_RT_MAX_ENCRYPTED_OVERHEAD);
constexpr long kCertificateListBytesMax = 4096;  // one Ed25519 certificate has about 300

int choose_alpn(SSL*, const unsigned char** out, unsigned char* out_bytes,
                const unsigned char* offered, unsigned int offered_bytes, void*) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_bytes, kAlpnList, kAlpnListBytes, offered,
                            offered_bytes) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

bool alpn_agreed(const SSL* session) {
  const unsigned char* name = nullptr;
  unsigned int bytes = 0;
  SSL_get0_alpn_selected(session, &name, &bytes);
  return std::string_view(reinterpret_cast<const char*>(name), bytes) == kAlpn;
}

// What OpenSSL says went wrong; empties its queue.
std::string take_openssl_error() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = ERR_reason_error_string(code);
  ERR_clear_error();
  return reason != nullptr ? reason : "";
}

// OpenSSL tells a failure by what its queue holds afterwards, so it must be empty before. It nearly
// always is, and emptying it regardless took a thirtieth of an I/O thread's time.
void empty_error_queue() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

}  // namespace

// Called for each record's head, as it comes and as it goes: the only place where OpenSSL says how
// long a record is before all of it is there. And for handshake messages: SSL_read does not
// return while such messages come and no application data. A stranger who sends only KeyUpdates
// would occupy an I/O thread.
void TlsSession::note_record(int sent, int, int content_type, const void* head, std::size_t bytes,
                             SSL*, void* session_incoming) {
  if (sent != 0) return;
  auto& incoming = *static_cast<Incoming*>(session_incoming);
  const bool in_record = content_type == SSL3_RT_INNER_CONTENT_TYPE && bytes == 1 &&
                         *static_cast<const unsigned char*>(head) == SSL3_RT_HANDSHAKE;
  if (content_type == SSL3_RT_HANDSHAKE || in_record)
    incoming.socket->refused = ++incoming.messages > kMessagesMax;
  if (content_type != SSL3_RT_HEADER || bytes != SSL3_RT_HEADER_LENGTH) return;
  const auto* octets = static_cast<const unsigned char*>(head);
  const std::uint64_t body = std::uint64_t{octets[3]} << 8 | octets[4];  // RFC 8446, 5.1
  incoming.records_end += bytes + body;
}

// Accepts exactly one certificate, of an Ed25519 key, signed with it, and of the expected peer if
// there is one. Names, dates and purposes mean nothing here.
int TlsSession::check_certificate(X509_STORE_CTX* store, void*) {
  const auto* session = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* peer = static_cast<Peer*>(SSL_get_app_data(session));
  const auto refuse = [&](std::string why) {
    peer->complaint = std::move(why);
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
    return 0;
  };
  X509* certificate = X509_STORE_CTX_get0_cert(store);
  if (certificate == nullptr || sk_X509_num(X509_STORE_CTX_get0_untrusted(store)) != 1)
    return refuse("the other side must present exactly one certificate");
  EVP_PKEY* key = X509_get0_pubkey(certificate);
  const std::optional<PeerId> id = key != nullptr ? peer_id_of(key) : std::nullopt;
  if (!id) return refuse("the other side's certificate is not of an Ed25519 key");
  if (X509_verify(certificate, key) != 1)
    return refuse("the other side's certificate is not signed with its own key");
  if (peer->expected && *peer->expected != *id) {
    peer->wrong = true;
    return refuse("the other side has the key of " + id->text() + ", expected " +
                  peer->expected->text() +
                  "; somebody else listens there now, or the address has the wrong id");
  }
  peer->id = *id;
  X509_STORE_CTX_set_error(store, X509_V_OK);
  return 1;
}

Result<TlsContext> TlsContext::make(const Identity& identity, std::uint64_t records_per_key) {
  TlsContext result;
  result.records_per_key_ = records_per_key;
  result.context_.reset(SSL_CTX_new(TLS_method()));
  SSL_CTX* context = result.context_.get();
  const Identity::Impl& own = identity.impl();
  const bool made = context != nullptr && SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) &&
                    SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) &&
                    SSL_CTX_set_ciphersuites(context, kCiphers) &&
                    SSL_CTX_set1_sigalgs_list(context, "ed25519") &&
                    SSL_CTX_set_num_tickets(context, 0) &&
                    SSL_CTX_use_certificate(context, own.certificate.get()) &&
                    SSL_CTX_use_PrivateKey(context, own.key.get()) &&
                    SSL_CTX_set_alpn_protos(context, kAlpnList, kAlpnListBytes) == 0;
  if (!made) return Error{ErrorCode::kInternal, "prepare TLS", take_openssl_error()};
  SSL_CTX_set_alpn_select_cb(context, choose_alpn, nullptr);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_max_cert_list(context, kCertificateListBytesMax);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, kReadAheadBytes);
  SSL_CTX_set_cert_verify_callback(context, TlsSession::check_certificate, nullptr);
  return result;
}

Result<TlsSession> TlsContext::session(Side side, int fd, std::optional<PeerId> expected,
                                       bool keep_buffers) const {
  TlsSession result;
  result.records_per_key_ = records_per_key_;
  result.peer_ = std::make_unique<TlsSession::Peer>();
  result.peer_->expected = expected;
  result.session_.reset(SSL_new(context_.get()));
  SSL* session = result.session_.get();
  result.socket_ = std::make_unique<SocketEnd>(SocketEnd{fd, false});
  BIO* const bio = make_socket_bio(*result.socket_);
  if (session == nullptr || bio == nullptr || !SSL_set_app_data(session, result.peer_.get())) {
    BIO_free(bio);
    return Error{ErrorCode::kInternal, "start TLS", take_openssl_error()};
  }
  SSL_set_bio(session, bio, bio);  // owns it from now on
  if (keep_buffers) SSL_clear_mode(session, SSL_MODE_RELEASE_BUFFERS);
  result.incoming_ = std::make_unique<TlsSession::Incoming>();
  result.incoming_->socket = result.socket_.get();
  SSL_set_msg_callback(session, TlsSession::note_record);
  SSL_set_msg_callback_arg(session, result.incoming_.get());
  if (side == Side::kClient) {
    SSL_set_connect_state(session);
  } else {
    SSL_set_accept_state(session);
  }
  return result;
}

// What the last call on the session came to. Its error queue was empty before the call.
TlsProgress TlsSession::outcome_of(int result, std::size_t bytes) {
  const int error_number = errno;
  if (result == 1) return {TlsOutcome::kDone, bytes};
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {TlsOutcome::kWantRead};
    case SSL_ERROR_WANT_WRITE:
      return {TlsOutcome::kWantWrite};
    case SSL_ERROR_ZERO_RETURN:
      return {TlsOutcome::kClosed};
    case SSL_ERROR_SYSCALL:
      ERR_clear_error();
      if (error_number == ECONNRESET || error_number == EPIPE || error_number == 0)
        return {TlsOutcome::kClosed};
      failed_errno_ = error_number;
      return {TlsOutcome::kFailed};
    default:
      failure_ = take_openssl_error();
      return {TlsOutcome::kFailed};
  }
}

TlsProgress TlsSession::handshake() {
  const StageScope stage(Stage::kTls);
  empty_error_queue();
  socket_->drained = false;
  errno = 0;
  const TlsProgress progress = outcome_of(SSL_do_handshake(session_.get()), 0);
  if (progress.outcome == TlsOutcome::kDone) incoming_->messages = 0;
  if (progress.outcome == TlsOutcome::kDone && !alpn_agreed(session_.get())) {
    failure_ = "the other side does not speak firn/1 (ALPN)";
    return {TlsOutcome::kFailed};
  }
  return progress;
}

TlsProgress TlsSession::read(std::span<std::uint8_t> into) {
  // OpenSSL would find out at more cost: it asks the socket, and looks for errors to tell of.
  if (socket_->drained && SSL_has_pending(session_.get()) == 0) return {TlsOutcome::kWantRead};
  const StageScope stage(Stage::kTls);
  empty_error_queue();
  errno = 0;
  std::size_t bytes = 0;
  const int result = SSL_read_ex(session_.get(), into.data(), into.size(), &bytes);
  const TlsProgress progress = outcome_of(result, bytes);
  if (socket_->refused) {
    failure_ = "messages of TLS come, and little data";
    failed_errno_ = 0;
    return {TlsOutcome::kFailed};
  }
  if (progress.outcome == TlsOutcome::kDone && incoming_->messages > 0) --incoming_->messages;
  return progress;
}

// OpenSSL reads nothing while such a change is under way. Two ends that change their keys at once,
// with full sockets between them, would wait for each other for ever, so the change never waits.
TlsProgress TlsSession::change_key() {
  if (SSL_key_update(session_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) {
    ERR_clear_error();  // the other side's own change is under way: with the next record
    return {TlsOutcome::kDone};
  }
  socket_->keeps = true;
  const TlsProgress progress = outcome_of(SSL_do_handshake(session_.get()), 0);
  socket_->keeps = false;
  if (progress.outcome == TlsOutcome::kDone) records_ = 0;
  return progress;
}

TlsProgress TlsSession::write(std::span<const std::uint8_t> from, bool more_follows) {
  const StageScope stage(Stage::kTls);
  socket_->more_follows = more_follows;
  const TlsProgress progress = write_record(from);
  socket_->more_follows = false;
  return progress;
}

TlsProgress TlsSession::write_record(std::span<const std::uint8_t> from) {
  empty_error_queue();
  errno = 0;
  if (records_ >= records_per_key_) {
    const TlsProgress changed = change_key();
    if (changed.outcome != TlsOutcome::kDone) return changed;
  }
  std::size_t bytes = 0;
  const int result =
      SSL_write_ex(session_.get(), from.data(), std::min(from.size(), kTlsRecordBytes), &bytes);
  const TlsProgress progress = outcome_of(result, bytes);
  if (progress.outcome == TlsOutcome::kDone) ++records_;
  return progress;
}

std::uint64_t TlsSession::received_bytes() const {
  return BIO_number_read(SSL_get_rbio(session_.get()));
}

std::size_t TlsSession::awaited_bytes() const {
  const std::uint64_t received = received_bytes();
  const std::uint64_t end = incoming_->records_end;
  return end > received ? static_cast<std::size_t>(end - received) : 0;
}

void TlsSession::say_goodbye() {
  const StageScope stage(Stage::kTls);
  ERR_clear_error();
  SSL_shutdown(session_.get());
  ERR_clear_error();
}

void TlsSession::export_binding(std::span<std::uint8_t> binding) const {
  constexpr std::string_view kLabel = "EXPORTER-firn-private-v1";
  FIRN_CHECK(SSL_export_keying_material(session_.get(), binding.data(), binding.size(),
                                        kLabel.data(), kLabel.size(), nullptr, 0, 0) == 1);
}

Error TlsSession::error(std::string what) const {
  if (peer_->wrong) return {ErrorCode::kWrongIdentity, std::move(what), peer_->complaint};
  if (failed_errno_ != 0) {
    // A connection that times out is no offence.
    Error failure = error_from_errno(std::move(what), failed_errno_);
    if (failure.code != ErrorCode::kUnreachable) failure.code = ErrorCode::kIo;
    return failure;
  }
  const std::string& detail = !peer_->complaint.empty() ? peer_->complaint : failure_;
  return {ErrorCode::kProtocol, std::move(what), "TLS: " + detail};
}

}  // namespace firn::proto::transport
