// Options about origins: web servers and buckets that have a content's files. Some commands fetch
// from origins that their user names, others publish these with what they make or serve.
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

// --origin; `use`: what the command does with it.
CLI::Option* add_origin_option(CLI::App& app, OriginOptions& options, const std::string& use);
// --no-origin, which excludes --origin
void add_no_origin_option(CLI::App& app, OriginOptions& options);
// --origin-host, --header, --endpoint and --region
void add_origin_access_options(CLI::App& app, OriginOptions& options);

// Puts into `plan` what the options say: all but from_link. Reads AWS's settings if they may be
// needed. Errors: kBadInput, and as read_aws_settings().
Status plan_origins(const OriginOptions& options, OriginPlan& plan);

// The URLs of --origin as a manifest or link may name them, without repetitions. Errors: kBadInput
// (one is no URL, holds a password or signature, or there are too many).
Result<std::vector<std::string>> origins_to_publish(const OriginOptions& options);

// The manifest with these origins besides those that are signed, and all of them signed. As it was
// if `signer` has not the key of its publisher: peers take no origins from each other that nobody
// has signed.
Result<Manifest> with_more_origins(const Manifest& manifest, const std::vector<std::string>& urls,
                                   const Signer& signer);

// Those that a link names: of a private content the manifest alone names them, which is sealed.
std::vector<std::string> origins_for_link(const Info& info, const std::vector<std::string>& urls);

// What a person should know who names these origins of a content that was made.
std::vector<std::string> origin_advice(const Manifest& manifest);

}  // namespace firn::app
