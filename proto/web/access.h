// Access control: a request must be meant for this server, and carry its token.
//
// Meant for it: the Host is `localhost`, a numeric address or the name it listens at, so that a
// stranger's name that leads here (DNS rebinding) is refused; an Origin, if one is named, is this
// Host's, so that a page of another origin cannot use a browser's cookie.
//
// The token comes as `Authorization: Bearer`, or a browser gets a cookie for it once. The cookie is
// derived from the token and from a secret of the process: it ends with the process, and does not
// tell the token.
//
// A second token, for programs that watch, comes as `Authorization: Bearer` alone, and opens
// nothing but what the door lets such readers see.
#pragma once

#include <string>

#include "proto/base/address.h"
#include "proto/web/http_message.h"

namespace firn::web {

// The host that a header Host names as `host[:port]`, IPv6 in brackets; empty: it is none.
std::string host_of(const std::string& header);
// Whether that is this machine alone.
bool is_loopback(const std::string& host);

class Access {
 public:
  // `read_token`: empty: there is none.
  Access(std::string token, const Address& listening, std::string read_token = "");

  enum class Verdict {
    kAllowed,
    kReader,      // the second token came
    kForeign,     // not meant for this server
    kNoToken,     // none came, or a cookie of another process
    kWrongToken,  // one came that is not this server's
  };
  Verdict judge(const Request& request) const;
  // The same without token: is it meant for this server?
  bool meant_for_us(const Request& request) const;

  bool is_token(const std::string& text) const;
  // The header for a browser that has shown the token.
  std::string set_cookie() const;
  std::string forget_cookie() const;
  const std::string& token() const { return token_; }

 private:
  bool names_us(const std::string& host) const;
  bool has_cookie(const Request& request) const;

  const std::string token_;
  const std::string read_token_;
  const std::string host_;
  const std::string cookie_name_;
  const std::string cookie_;
};

}  // namespace firn::web
