// The address of an origin: an ordinary web server or an S3 bucket that has a content's files. It
// names one file, or a folder (its path ends in '/') below which the files stand by their paths.
//
//   https://[USER:PASSWORD@]HOST[:PORT]/PATH[?QUERY]    also http
//   s3://BUCKET/KEY                                     its server:
//   client/app/origin/origin_access.h
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/result.h"

namespace firn {

class OriginUrl {
 public:
  enum class Scheme { kHttp, kHttps, kS3 };

  OriginUrl() = default;  // of no host; for members that are set later

  Scheme scheme() const { return scheme_; }
  // In small letters; an IPv6 address in its brackets. Of s3: the bucket, as it is written.
  const std::string& host() const { return host_; }
  std::uint16_t port() const { return port_; }  // the scheme's own if the URL names none; 0 of s3
  // Begins with '/', percent-encoded.
  const std::string& path() const { return path_; }
  // Decoded; empty if there are none. Never for logs.
  const std::string& user() const { return user_; }
  const std::string& password() const { return password_; }

  // The URL without user and password: for requests, links and manifests. parse_origin() of it
  // gives the same again.
  std::string text() const;
  // For people and logs: no user and password, and "..." in place of what the query says, because
  // that may be a signature.
  std::string shown() const;
  // Whether the URL holds what must not be published: user or password, or a query parameter that
  // is named like a signature, token or key (X-Amz-Signature, sig, access_token, ...).
  bool has_secrets() const;
  // Whether the URL holds what may be a secret by any name: user, password, or a query.
  bool may_hold_secrets() const;

  // Whether the host is localhost or an address of another kind than the Internet's: peers ask such
  // an origin only if somebody gives it to them by hand.
  bool is_by_hand_only() const;

  bool is_folder() const { return path_.ends_with('/'); }
  // The URL of the file at `path` (relative, as in a manifest: components separated by '/') below
  // this folder. Every component is percent-encoded; user, password and query stay.
  OriginUrl file(std::string_view path) const;  // is_folder()
  // The last component of the path, decoded: a name for the file on this machine, safe as
  // check_content_path() says. Errors: kBadInput (a folder, or such a name: asks for --as).
  Result<std::string> name() const;

  // Same scheme, host and port, as text: credentials for one are good for the other.
  bool same_host(const OriginUrl& other) const;

  bool operator==(const OriginUrl&) const = default;

 private:
  friend Result<OriginUrl> parse_origin(std::string_view text);
  std::string with_query(const std::string& query) const;

  Scheme scheme_ = Scheme::kHttps;
  std::string user_, password_;
  std::string host_;
  std::uint16_t port_ = 0;
  std::string path_ = "/";
  std::string query_;  // without '?'
};

// A fragment ("#...") is cut off; characters of path and query that no URL may hold (spaces, UTF-8)
// are percent-encoded. Text from people, links, manifests and servers' redirects. Errors:
// kBadInput: another scheme, no host or a host with other characters than a name's, a wrong port,
// control characters, '%' without two digits, an '@' without a user before it, more than
// limits::kOriginBytesMax bytes. Messages show no secret.
Result<OriginUrl> parse_origin(std::string_view text);

// Whether a manifest or link may name this URL: one that parse_origin() takes, without user,
// password, fragment and "'", which means something to a shell, and with all characters encoded
// that no URL may hold. Errors: kBadInput says what is wrong, and does not repeat the URL.
Status check_origin_text(std::string_view url);

// The query of a URL (without '?') as people may see it: "name=..." for each parameter, "..." for
// one without a value, which may itself be a token.
std::string shown_query(std::string_view query);

}  // namespace firn
