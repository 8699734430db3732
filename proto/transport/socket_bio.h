// OpenSSL's way to a non-blocking socket, where its own (BIO_s_socket) does needless work: after
// each record it asks a socket for more that has just said, by bringing less than there was room
// for, that it has none (three of eight reads on slow links), and only a callback before and after
// each call can tell the kernel's time from that of the ciphers.
#pragma once

#include <openssl/bio.h>

#include <string>

namespace firn::proto::transport {

// What a BIO knows of its socket, which it does not own. One thread.
struct SocketEnd {
  int fd = -1;
  // The last read took all there was; reads say "try again" until this is cleared: by a caller
  // that has heard of more (poll), or does not know.
  bool drained = false;
  // While this is set a write is taken whole: what the socket does not take now is kept, and goes
  // out before what is written next. For a few bytes that something else follows.
  bool keeps = false;
  std::string kept = {};
  // What is written now is followed at once: the kernel holds back a segment that is not full.
  bool more_follows = false;
  // Nothing is read any more: reads fail with EPROTO. It ends a call of OpenSSL's that would go on
  // for as long as the other side sends.
  bool refused = false;
};

// Reads and writes `end`, which must outlive it. Time in the kernel counts as Stage::kNetwork.
// Null: OpenSSL refuses. Owned by the caller.
BIO* make_socket_bio(SocketEnd& end);

}  // namespace firn::proto::transport
