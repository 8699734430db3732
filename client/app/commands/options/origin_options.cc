#include "client/app/commands/options/origin_options.h"

#include <algorithm>
#include <filesystem>

#include "client/app/commands/options/content_source.h"
#include "client/app/origin/origin_pieces.h"
#include "proto/base/address.h"
#include "proto/base/limits.h"
#include "proto/content/origin_url.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

constexpr const char* kOriginGroup = "Origins";

std::string url_fault(const std::string& text) {
  const auto url = parse_origin(text);
  return url.ok() ? "" : url.error().message();
}

std::string host_fault(const std::string& text) {
  const auto host = parse_address(text, 443);
  const bool fine = host.ok() && !host->id && is_destination(*host) &&
                    text.find('/') == std::string::npos && text.find('@') == std::string::npos;
  return fine ? "" : "it is no HOST or HOST:PORT";
}

std::string header_fault(const std::string& header) {
  const Status fine = check_header(header);
  return fine.ok() ? "" : fine.error().message();
}

std::string endpoint_fault(const std::string& text) {
  const auto url = parse_origin(text);
  if (!url.ok()) return url.error().message();
  return url->scheme() == OriginUrl::Scheme::kS3 ? "it is no http:// or https:// URL" : "";
}

CLI::Validator checked_by(std::string (*fault)(const std::string&)) {
  return CLI::Validator([fault](const std::string& text) { return fault(text); }, "");
}

Result<std::vector<OriginUrl>> parse_origins(const std::vector<std::string>& texts) {
  std::vector<OriginUrl> urls;
  for (const std::string& text : texts) {
    auto url = parse_origin(text);
    if (!url.ok()) return url.error();
    if (std::ranges::find(urls, *url) == urls.end()) urls.push_back(*std::move(url));
  }
  return urls;
}

bool is_bucket(const OriginUrl& url) {
  return url.scheme() == OriginUrl::Scheme::kS3;
}

// What goes along with requests to `urls`, which the user named.
Result<OriginAccess> access_given(const OriginOptions& options,
                                  const std::vector<OriginUrl>& urls) {
  OriginAccess given;
  for (const std::string& header : options.headers)
    if (const Status fine = check_header(header); !fine.ok()) return fine.error();
  given.headers = options.headers;
  given.endpoint = options.endpoint;
  given.region = options.region;
  given.netrc = given.proxies = true;
  if (std::ranges::none_of(urls, is_bucket)) return given;
  if (const Status read = add_aws_settings(given); !read.ok()) return read.error();
  for (const OriginUrl& url : urls)
    if (const auto asked = request_url(url, given); !asked.ok()) return asked.error();
  return given;
}

}  // namespace

CLI::Option* add_origin_option(CLI::App& app, OriginOptions& options, const std::string& use) {
  return app.add_option("--origin", options.urls, use)
      ->option_text("URL")
      ->configurable(false)
      ->check(checked_by(url_fault))
      ->group(kOriginGroup);
}

void add_no_origin_option(CLI::App& app, OriginOptions& options) {
  app.add_flag("--no-origin", options.none, "use no origin, not even those of the link or manifest")
      ->excludes("--origin")
      ->group(kOriginGroup);
}

void add_origin_access_options(CLI::App& app, OriginOptions& options) {
  app.add_option("--origin-host", options.hosts,
                 "treat origins of this host, whoever names them, as those of --origin: --header, "
                 "keys, .netrc and a proxy are used; without PORT over https alone (repeatable)")
      ->option_text("HOST[:PORT]")
      ->check(checked_by(host_fault))
      ->group(kOriginGroup);
  app.add_option("--header", options.headers,
                 "send this header to origins of --origin and --origin-host (repeatable); other "
                 "users of this machine see a command line, but not a configuration file")
      ->option_text("'NAME: VALUE'")
      ->check(checked_by(header_fault))
      ->group(kOriginGroup);
  app.add_option("--endpoint", options.endpoint,
                 "server of s3:// origins (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, else "
                 "Amazon's)")
      ->option_text("URL")
      ->check(checked_by(endpoint_fault))
      ->group(kOriginGroup);
  app.add_option("--region", options.region,
                 "region of s3:// origins (default: AWS_REGION, AWS_DEFAULT_REGION, else "
                 "us-east-1)")
      ->option_text("NAME")
      ->check(not_empty())
      ->group(kOriginGroup);
}

Status plan_origins(const OriginOptions& options, OriginPlan& plan) {
  plan.none = options.none;
  plan.named_hosts = options.hosts;
  auto urls = parse_origins(options.urls);
  if (!urls.ok()) return urls.error();
  plan.by_hand = *std::move(urls);
  auto given = access_given(options, plan.by_hand);
  if (!given.ok()) return given.error();
  plan.given = *std::move(given);
  return Done{};
}

Result<std::vector<std::string>> origins_to_publish(const OriginOptions& options) {
  const auto urls = parse_origins(options.urls);
  if (!urls.ok()) return urls.error();
  const auto access = access_given(options, *urls);
  if (!access.ok()) return access.error();
  // A reader without the publisher's settings finds a bucket only where it is by default.
  const bool is_elsewhere = !access->endpoint.empty() || !access->region.empty();
  const auto refuse = [](const std::string& url, const std::string& why) {
    return Error{ErrorCode::kBadInput, "publish the origin " + url, why};
  };
  std::vector<std::string> texts;
  for (const OriginUrl& url : *urls) {
    if (url.has_secrets())
      return refuse(url.shown(),
                    "it holds a password, token or signature, which everybody who has the link or "
                    "manifest would see; give it to get or add");
    texts.push_back((is_elsewhere ? *request_url(url, *access) : url).text());
    if (const Status fine = check_origin_text(texts.back()); !fine.ok())
      return refuse(url.shown(), fine.error().detail);
  }
  if (texts.size() > limits::kOriginCountMax)
    return refuse(
        urls->back().shown(),
        "a manifest or link names " + std::to_string(limits::kOriginCountMax) + " origins at most");
  return texts;
}

Status check_origins_fit(const std::vector<std::string>& urls, const std::string& path) {
  Info info;
  info.name = place_of(path).as;
  std::error_code ignored;
  info.single_file = !std::filesystem::is_directory(path, ignored);
  for (const std::string& text : urls)
    if (const auto url = parse_origin(text); url.ok())
      if (const Status fits = check_origin_fits(*url, info); !fits.ok()) return fits;
  return Done{};
}

Result<Manifest> with_more_origins(const Manifest& manifest, const std::vector<std::string>& urls,
                                   const Signer& signer) {
  const auto key = signer.publisher();
  if (urls.empty() || !key || (manifest.publisher && manifest.publisher->key != key->raw()))
    return manifest;
  std::vector<std::string> all;
  if (manifest.origins_signed) all = manifest.origins;
  for (const std::string& url : urls)
    if (std::ranges::find(all, url) == all.end()) all.push_back(url);
  auto named = with_origins(manifest, all);
  if (!named.ok()) return named;
  return signer.sign(*std::move(named));
}

std::vector<std::string> origins_for_link(const Info& info, const std::vector<std::string>& urls) {
  return info.is_private ? std::vector<std::string>() : urls;
}

std::vector<std::string> origin_advice(const Manifest& manifest) {
  std::vector<std::string> advices;
  for (const std::string& text : manifest.origins)
    if (const auto url = parse_origin(text); url.ok() && url->is_by_hand_only())
      advices.push_back("receivers ask the origin " + url->shown() +
                        " only if they name it with --origin themselves: its address is none of "
                        "the Internet");
  if (!manifest.info.is_private || manifest.origins.empty()) return advices;
  std::string advice = "the origin's server sees the plain bytes of " + manifest.info.name +
                       ", and who asks for them";
  if (!manifest.origins_signed)
    advice += "; peers get its URL from the manifest file alone, unless --sign names a key";
  advices.push_back(std::move(advice));
  return advices;
}

}  // namespace firn::app
