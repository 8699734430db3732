#include "tracker/redis/tls.h"

#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>

#include "proto/base/limits.h"
#include "proto/base/plain_text.h"

namespace firn::tracker {
namespace {

struct FreeTls {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* tls) const { SSL_free(tls); }
};
using Context = std::unique_ptr<SSL_CTX, FreeTls>;

Result<Context> make_context(const std::string& ca_file) {
  Context context(SSL_CTX_new(TLS_client_method()));
  if (!context) return Error{ErrorCode::kInternal, "begin TLS with Redis", "no memory"};
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  ERR_clear_error();
  const int loaded = ca_file.empty()
                         ? SSL_CTX_set_default_verify_paths(context.get())
                         : SSL_CTX_load_verify_locations(context.get(), ca_file.c_str(), nullptr);
  if (loaded == 1) return context;
  ERR_clear_error();
  return Error{ErrorCode::kBadInput, "read the certificates of " + ca_file,
               "it is no file of certificates in PEM form"};
}

bool is_numeric(const std::string& host) {
  in6_addr address;  // has room for both kinds
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

// Makes OpenSSL compare the certificate's names.
bool expect(SSL* tls, const std::string& host) {
  if (is_numeric(host))
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host.c_str()) == 1;
  return SSL_set1_host(tls, host.c_str()) == 1 && SSL_set_tlsext_host_name(tls, host.c_str()) == 1;
}

}  // namespace

Status check_tls(const std::string& ca_file) {
  const auto context = make_context(ca_file);
  if (!context) return context.error();
  return Done{};
}

Status begin_tls(redisContext* context, const std::string& host, const std::string& ca_file) {
  const auto rules = make_context(ca_file);
  if (!rules) return rules.error();
  std::unique_ptr<SSL, FreeTls> tls(SSL_new(rules->get()));
  if (!tls || !expect(tls.get(), host))
    return Error{ErrorCode::kInternal, "begin TLS with Redis", "OpenSSL does not take " + host};
  // hiredis frees it with the context once it has taken it, and where the handshake fails does not.
  if (redisInitiateSSL(context, tls.get()) == REDIS_OK) {
    (void)tls.release();
    return Done{};
  }
  const long verdict = SSL_get_verify_result(tls.get());
  if (verdict != X509_V_OK)
    return Error{ErrorCode::kWrongIdentity, "begin TLS with Redis",
                 std::string(X509_verify_cert_error_string(verdict)) + "; see --redis-ca"};
  return Error{ErrorCode::kUnreachable, "begin TLS with Redis",
               to_plain_text(context->errstr, limits::kReasonBytesMax)};
}

}  // namespace firn::tracker
