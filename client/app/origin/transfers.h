// Fetches bytes of origins by HTTP: many transfers at a time on one thread of their own, by
// libcurl. Knows nothing of contents and sessions. Where Firn was built without libcurl, start()
// says so.
//
// A request goes to request_url(url, access), with `access`'s credentials. At most kRedirectsMax
// redirects are followed, to http and https alone and never from https to http; credentials stay
// behind at the first one that leaves scheme, host or port. Each address that is connected to is
// checked, after name resolution: without access.by_hand it must be one of the Internet
// (AddressKind::kGlobal); with it, a redirect to another host must not lead to an address of
// another special kind than the redirecting server's. Through a proxy that check cannot be made. So
// proxies of the environment are used only with access.proxies, and no longer once credentials have
// stayed behind; a redirect that came through a proxy leads to addresses of the Internet alone.
//
// Connections are kept and used again, HTTP/2 is spoken where the server offers it. The caller
// bounds how many transfers of one origin there are at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "client/app/origin/origin_answer.h"
#include "client/app/origin/transfer_request.h"
#include "proto/base/result.h"

namespace firn::app {

inline constexpr int kRedirectsMax = 5;

// Takes what one transfer brings. All calls come on the transfers' thread, one at a time, and must
// not block it for long: other transfers wait meanwhile. Calls of Transfers are allowed within
// them, except its destructor.
class TransferSink {
 public:
  virtual ~TransferSink() = default;

  // Once at most, before the first byte: an answer that check_answer() has accepted. An error ends
  // the transfer: ended() gets it, as kCancelled.
  virtual Status head(const OriginAnswer& answer) = 0;
  // The next bytes, in order, valid during the call. Never more than asked for in sum. False: none
  // of them was taken; the transfer pauses, and the same bytes come again, perhaps with more, after
  // Transfers::resume(). A pause is no stall.
  virtual bool take(std::span<const std::uint8_t> bytes) = 0;
  // The last call, always made, also without head() before it. The sink is let go of behind it.
  // Without a fault, all bytes have been taken; with one, those taken may be any part, and are to
  // be proven by digest as ever.
  virtual void ended(const TransferEnd& end) = 0;
};

// "7.88.1", of libcurl; empty: built without it.
std::string transfers_library();

struct TransfersOptions {
  std::uint32_t connect_timeout_ms = 10'000;  // name resolution, TCP and TLS together
  std::uint32_t stall_timeout_s = 20;         // with less than 2 KiB/s, from the request on
  // Certificates that are trusted, PEM. Empty: the file that CURL_CA_BUNDLE or SSL_CERT_FILE names,
  // as for the curl command, else the system's.
  std::string ca_file;
  // For the variables of proxies, .netrc and certificates; called on any thread.
  Environment environment = process_environment;
};

// Any thread.
class Transfers {
 public:
  // Errors: kUnsupported (built without libcurl), kBusy (no thread), kInternal (libcurl).
  static Result<std::shared_ptr<Transfers>> start(TransfersOptions options = {});

  // Cancels all transfers, and returns after their ended(). Not from within a sink's call.
  virtual ~Transfers() = default;

  // Begins, and returns at once with an id that is never used again; whatever is wrong with the
  // request comes to ended(). The sink is kept until then.
  virtual std::uint64_t begin(TransferRequest request, std::shared_ptr<TransferSink> sink) = 0;
  // After a take() that returned false, also if it has not returned yet. Ignored if the transfer
  // has ended or does not pause.
  virtual void resume(std::uint64_t id) = 0;
  // ended() with kCancelled follows, unless the transfer ends otherwise at the same moment. Ignored
  // if it has ended.
  virtual void cancel(std::uint64_t id) = 0;
};

}  // namespace firn::app
