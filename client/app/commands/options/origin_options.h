// Options about origins: web servers and buckets that have a content's files. Some commands fetch
// from the origins of --origin, others publish them in a manifest and link.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "client/app/origin/origin_plan.h"
#include "client/app/publishing/signer.h"
#include "proto/base/result.h"
#include "proto/content/manifest.h"

namespace firn::app {

struct OriginOptions {
  std::vector<std::string> urls;
  bool none = false;
  std::vector<std::string> hosts;
  std::vector<std::string> headers;
  std::string endpoint, region;
};

// --origin; `use`: what the command does with the URLs, for --help.
CLI::Option* add_origin_option(CLI::App& app, OriginOptions& options, const std::string& use);
// --no-origin, which excludes --origin
void add_no_origin_option(CLI::App& app, OriginOptions& options);
// --origin-host, --header, --endpoint and --region
void add_origin_access_options(CLI::App& app, OriginOptions& options);

// Puts into `plan` what the options say: all but from_link. Reads AWS's settings if --origin names
// a bucket. Errors: kBadInput, and as read_aws_settings().
Status plan_origins(const OriginOptions& options, OriginPlan& plan);

// The URLs of --origin as a manifest or link may name them, without repetitions. A bucket for which
// an endpoint or region is set gets the http or https URL of that server, which needs no settings.
// Errors: kBadInput (one is no URL, holds a password or signature, or there are too many), and as
// read_aws_settings().
Result<std::vector<std::string>> origins_to_publish(const OriginOptions& options);

// Errors: kBadInput: the file or folder at `path` cannot come from one of these URLs.
Status check_origins_fit(const std::vector<std::string>& urls, const std::string& path);

// The manifest with these origins besides those that are signed already, signed by `signer`. The
// manifest is unchanged if `signer` has not its publisher's key, as peers drop unsigned origins.
Result<Manifest> with_more_origins(const Manifest& manifest, const std::vector<std::string>& urls,
                                   const Signer& signer);

// The origins for a content's link: none of a private content, whose sealed manifest names them.
std::vector<std::string> origins_for_link(const Info& info, const std::vector<std::string>& urls);

// Warnings for whoever publishes this manifest with its origins.
std::vector<std::string> origin_advice(const Manifest& manifest);

}  // namespace firn::app
