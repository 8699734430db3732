#include "client/app/origin/origin_choice.h"

#include <algorithm>
#include <utility>

#include "client/app/origin/origin_pieces.h"

namespace firn::app {
namespace {

// An entry without a port means https: whoever makes a link chooses the URL, and nobody between may
// read what goes along. `given`: what named hosts get.
bool host_is_named(const OriginUrl& url, const std::vector<std::string>& hosts,
                   const OriginAccess& given) {
  const auto asked = request_url(url, given);
  if (!asked.ok()) return false;
  const bool plain = asked->scheme() == OriginUrl::Scheme::kHttp;
  return std::ranges::any_of(hosts, [&](const std::string& host) {
    const bool has_port = host.rfind(':') != std::string::npos && !host.ends_with(']');
    const auto named = parse_origin((plain ? "http://" : "https://") + host + "/");
    return named.ok() && named->same_host(*asked) && (has_port || !plain);
  });
}

Result<OriginAccess> access_of(const OriginUrl& url, const OriginPlan& plan) {
  OriginAccess given = plan.given;
  const bool is_bucket = url.scheme() == OriginUrl::Scheme::kS3;
  if (is_bucket && !given.aws)
    if (const Status read = add_aws_settings(given); !read.ok() && !plan.named_hosts.empty())
      return read.error();
  OriginAccess access;
  access.region = plan.given.region;
  if (host_is_named(url, plan.named_hosts, given))
    access = given;
  else if (is_bucket && !given.endpoint.empty())
    return Error{ErrorCode::kBadInput, "fetch from " + url.shown(),
                 "a link or manifest names it, and the endpoint " + given.endpoint +
                     " is for buckets that you name: add --origin " + url.shown() +
                     " if it is there"};
  access.by_hand = false;
  return access;
}

bool signed_by(const Manifest& manifest, const std::optional<PublicKey>& publisher) {
  return publisher && manifest.origins_signed && manifest.publisher &&
         PublicKey::from_bytes(manifest.publisher->key) == publisher;
}

}  // namespace

OriginChoice choose_origins(const OriginPlan& plan, const Manifest& manifest,
                            const std::optional<PublicKey>& publisher) {
  OriginChoice choice;
  if (plan.none) return choice;
  const auto is_there = [&](const OriginUrl& url) {
    return std::ranges::any_of(choice.origins,
                               [&](const Origin& other) { return other.url == url; });
  };
  const auto add = [&](const OriginUrl& url, OriginAccess access) {
    if (is_there(url)) return;
    if (const Status fits = check_origin_fits(url, manifest.info); !fits.ok())
      return choice.refused.push_back(fits.error().message());
    choice.origins.push_back({url, std::make_shared<const OriginAccess>(std::move(access))});
  };
  for (const OriginUrl& url : plan.by_hand) {
    OriginAccess access = plan.given;
    access.by_hand = true;
    add(url, std::move(access));
  }
  const auto add_text = [&](const std::string& text) {
    const auto url = parse_origin(text);
    if (!url.ok()) return choice.refused.push_back(url.error().message());
    if (is_there(*url)) return;
    auto access = access_of(*url, plan);
    if (!access.ok()) return choice.refused.push_back(access.error().message());
    add(*url, *std::move(access));
  };
  for (const std::string& text : plan.from_link) add_text(text);
  if (signed_by(manifest, publisher))
    for (const std::string& text : manifest.origins) add_text(text);
  return choice;
}

}  // namespace firn::app
