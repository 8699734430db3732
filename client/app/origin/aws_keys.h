// What the user has set up for S3 in the way of AWS's own tools: variables of the environment
// first, then the files ~/.aws/credentials and ~/.aws/config.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "proto/base/result.h"

namespace firn::app {

struct AwsKeys {
  std::string id, secret;
  std::string session_token;  // empty: none

  bool operator==(const AwsKeys&) const = default;
};

struct AwsSettings {
  std::optional<AwsKeys> keys;  // none: requests are not signed, which public buckets accept
  std::string region;           // empty: none is set
  std::string endpoint;         // http or https URL; empty: Amazon's
};

// The value of a variable of the environment; empty if there is none.
using Environment = std::function<std::string(const char* name)>;
std::string process_environment(const char* name);

// Reads AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION,
// AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL; and of the profile AWS_PROFILE
// ("default") the same from the files that AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name, or
// those of ~/.aws. A variable wins over a file, the credentials file over the config file. Keys of
// other kinds (single sign-on, roles, programs that print keys) are not read. Errors: kBadInput:
// one of the two keys alone; a profile that is named and stands in no file; a file of more than 1
// MiB; others as errno says. Messages name files and profiles, never keys.
Result<AwsSettings> read_aws_settings(const Environment& environment = process_environment);

}  // namespace firn::app
