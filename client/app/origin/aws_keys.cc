#include "client/app/origin/aws_keys.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "proto/program/input_file.h"

namespace firn::app {
namespace {

constexpr std::size_t kAwsFileBytesMax = 1 << 20;

using Entries = std::map<std::string, std::string, std::less<>>;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The entries of `section`; nullopt: there is none. Indented lines belong to a group of settings,
// such as those below `s3 =`, and none of those is read.
std::optional<Entries> section_of(std::string_view text, std::string_view section) {
  std::optional<Entries> found;
  bool within = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view words = trimmed(line);
    if (words.empty() || words.front() == '#' || words.front() == ';') continue;
    if (words.front() == '[') {
      within = words.back() == ']' && trimmed(words.substr(1, words.size() - 2)) == section;
      if (within && !found) found.emplace();
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!within || line.front() == ' ' || line.front() == '\t' || equals == std::string_view::npos)
      continue;
    found->insert_or_assign(std::string(trimmed(line.substr(0, equals))),
                            std::string(trimmed(line.substr(equals + 1))));
  }
  return found;
}

// A file of the user's that need not be there. `variable` names another one.
Result<std::string> read_aws_file(const Environment& environment, const char* variable,
                                  const char* below_home) {
  std::string path = environment(variable);
  const std::string home = environment("HOME");
  if (path.empty()) {
    if (home.empty()) return std::string();
    path = home + below_home;
  }
  if (path.starts_with("~/")) path = home + path.substr(1);
  auto text = read_input_file(path, kAwsFileBytesMax);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::string();
  return text;
}

// Both keys, neither, or an error; `where` they stand.
Result<std::optional<AwsKeys>> keys_of(AwsKeys keys, const std::string& where) {
  if (keys.id.empty() && keys.secret.empty()) return std::optional<AwsKeys>();
  if (keys.id.empty() || keys.secret.empty())
    return Error{ErrorCode::kBadInput, "read the keys for S3",
                 where + " has " +
                     (keys.id.empty() ? "a secret key without its id"
                                      : "the id of a key without its secret")};
  return std::optional<AwsKeys>(std::move(keys));
}

std::string entry(const Entries& entries, std::string_view name) {
  const auto found = entries.find(name);
  return found == entries.end() ? "" : found->second;
}

std::string first_of(std::string a, std::string b, std::string c = "") {
  return !a.empty() ? a : !b.empty() ? b : c;
}

}  // namespace

std::string process_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<AwsSettings> read_aws_settings(const Environment& environment) {
  const auto credentials_text =
      read_aws_file(environment, "AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials");
  if (!credentials_text) return credentials_text.error();
  const auto config_text = read_aws_file(environment, "AWS_CONFIG_FILE", "/.aws/config");
  if (!config_text) return config_text.error();

  const std::string named = environment("AWS_PROFILE");
  const std::string profile = named.empty() ? "default" : named;
  const auto credentials = section_of(*credentials_text, profile);
  const auto config =
      section_of(*config_text, profile == "default" ? profile : "profile " + profile);
  if (!named.empty() && !credentials && !config)
    return Error{ErrorCode::kBadInput, "read the keys for S3",
                 "the profile '" + named +
                     "' that AWS_PROFILE names stands neither in "
                     "~/.aws/credentials nor in ~/.aws/config"};
  const Entries none, &first = credentials ? *credentials : none, &second = config ? *config : none;

  AwsSettings settings;
  settings.region = first_of(environment("AWS_REGION"), environment("AWS_DEFAULT_REGION"),
                             first_of(entry(first, "region"), entry(second, "region")));
  settings.endpoint =
      first_of(environment("AWS_ENDPOINT_URL_S3"), environment("AWS_ENDPOINT_URL"),
               first_of(entry(first, "endpoint_url"), entry(second, "endpoint_url")));
  const std::pair<AwsKeys, std::string> places[] = {
      {{environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"),
        environment("AWS_SESSION_TOKEN")},
       "the environment"},
      {{entry(first, "aws_access_key_id"), entry(first, "aws_secret_access_key"),
        entry(first, "aws_session_token")},
       "the profile '" + profile + "' of the file of AWS credentials"},
      {{entry(second, "aws_access_key_id"), entry(second, "aws_secret_access_key"),
        entry(second, "aws_session_token")},
       "the profile '" + profile + "' of AWS's config file"},
  };
  for (const auto& [keys, where] : places) {
    auto found = keys_of(keys, where);
    if (!found) return found.error();
    settings.keys = std::move(*found);
    if (settings.keys) break;
  }
  return settings;
}

}  // namespace firn::app
