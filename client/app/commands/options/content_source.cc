#include "client/app/commands/options/content_source.h"

#include <algorithm>
#include <filesystem>

#include "client/app/commands/transfer/url_source.h"
#include "client/app/session/secret_check.h"
#include "client/content/find_folder.h"
#include "client/store/work_folder.h"
#include "proto/base/limits.h"
#include "proto/program/input_file.h"

namespace firn::app {
Result<Manifest> read_manifest_file(const std::string& path) {
  auto bytes = read_input_file(path, limits::kManifestBytesMax);
  if (!bytes.ok()) {
    Error error = bytes.error();
    if (error.code == ErrorCode::kExists) error.code = ErrorCode::kBadInput;
    return error;
  }
  auto manifest = parse_manifest(*bytes);
  if (manifest.ok()) return manifest;
  Error error = manifest.error();
  error.operation = path + ": " + error.operation;
  error.code = ErrorCode::kBadInput;
  return error;
}

// More than the endings of file names have, and less than a secret that was not copied whole.
constexpr std::size_t kLikelySecretBytes = 40;

// A link as people paste it: with spaces or a line end around it, or without "firn:".
std::string tidied(const std::string& text) {
  constexpr const char* kSpaces = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string::npos) return text;
  const std::string inner = text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
  if (looks_like_link(inner)) return inner;
  std::error_code ignored;
  const std::size_t end = inner.find_first_of("./?");
  // Not the name of a file, X.firn.
  const bool too_short =
      end != std::string::npos && inner[end] == '.' && inner.size() <= end + kLikelySecretBytes;
  if (too_short || !ContentId::from_text(inner.substr(0, end)) ||
      std::filesystem::exists(text, ignored))
    return text;
  return "firn:" + inner;
}

// The scheme of what looks like a link of another program: "magnet:", "https:". Empty: it does not.
std::string foreign_scheme(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon < 2) return "";
  const auto is_of_scheme = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  };
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), is_of_scheme)
             ? text.substr(0, colon + 1)
             : "";
}

// What a URL of a web server is, without the secrets that its text may hold.
Error no_link(const std::string& text) {
  const auto url = parse_origin(text);
  if (!url.ok()) return url.error();
  return {ErrorCode::kBadInput, "read " + url->shown(),
          "it is the URL of a file or folder on a web server, and no link; firn get URL downloads "
          "one file, firn create URL -o X.firn makes its manifest"};
}

// What is no link, and no file either. Its text may hold secrets of another program.
Error neither(const std::string& text, Error error) {
  if (const std::string scheme = foreign_scheme(text); !scheme.empty())
    return {ErrorCode::kBadInput, "read " + scheme + "...",
            "a link that begins with '" + scheme +
                "' is for another program; firn takes links that begin with 'firn:', and manifest "
                "files (X.firn)"};
  if (text.find_first_of("./") == std::string::npos)
    error.detail += "; nor is it a link: one is 'firn:' and the 52 characters of a content id";
  return error;
}

// The one link of a file.
Result<ContentSource> read_link_file(const std::string& path) {
  auto lines = read_input_lines(path, kLinkFileBytesMax);
  if (!lines.ok()) return lines.error();
  if (lines->size() != 1 || !looks_like_link(tidied(lines->front())))
    return Error{ErrorCode::kBadInput, "read " + path,
                 "it must hold one link; firn watch takes files with several"};
  auto source = read_source(lines->front());
  if (source.ok()) source->from_file = true;
  return source;
}

Result<ContentSource> read_source(const std::string& given) {
  const std::string text = tidied(given);
  if (is_url(text)) return no_link(text);
  ContentSource source;
  if (!looks_like_link(text) && text.ends_with(kLinkFileSuffix)) return read_link_file(text);
  if (looks_like_link(text)) {
    auto link = parse_link(text);
    if (!link.ok()) return link.error();
    source.content_id = link->content_id;
    source.trackers = link->trackers;
    source.peers = link->peers;
    source.publisher = link->publisher;
    source.secret = link->secret;
    source.origins = link->origins;
    return source;
  }
  auto manifest = read_manifest_file(text);
  if (!manifest.ok() && manifest.error().code == ErrorCode::kNotFound)
    return neither(text, manifest.error());
  if (!manifest.ok()) return manifest.error();
  source.content_id = manifest->id;
  source.trackers = manifest->trackers;
  source.origins = manifest->origins;
  source.manifest = *std::move(manifest);
  source.from_file = true;
  return source;
}

Result<ContentSource> read_source(const std::string& text, const std::string& dir) {
  auto source = read_source(text);
  if (!source.ok() || source->manifest) return source;
  source->manifest = kept_manifest(dir, source->content_id);
  if (!source->manifest) return source;
  source->manifest_kept = true;
  const auto& trackers = source->manifest->trackers;
  source->trackers.insert(source->trackers.end(), trackers.begin(), trackers.end());
  return source;
}

Result<std::vector<ContentSource>> read_sources(const std::vector<std::string>& texts,
                                                const std::string& dir) {
  const auto is_manifest = [](const ContentSource& one) {
    return one.manifest && !one.manifest_kept;
  };
  std::vector<ContentSource> sources;
  for (const std::string& text : texts) {
    auto source = read_source(text, dir);
    if (!source.ok()) return source.error();
    const auto same = std::ranges::find(sources, source->content_id, &ContentSource::content_id);
    if (same == sources.end()) {
      sources.push_back(*std::move(source));
      continue;
    }
    if (is_manifest(*same) == is_manifest(*source))
      return Error{ErrorCode::kBadInput, "get " + text, "named twice"};
    if (is_manifest(*same)) std::swap(*same, *source);
    same->manifest = std::move(source->manifest);
    same->manifest_kept = false;
    same->from_file = true;
    same->origins.insert(same->origins.end(), source->origins.begin(), source->origins.end());
    same->trackers.insert(same->trackers.end(), source->trackers.begin(), source->trackers.end());
  }
  return sources;
}

std::shared_ptr<const privacy::PrivateKeys> ContentSource::keys() const {
  return secret ? std::make_shared<const privacy::PrivateKeys>(*secret, content_id) : nullptr;
}

Status require_secret(const ContentSource& source) {
  return source.manifest ? check_secret(source.secret.has_value(), source.manifest->info) : Done{};
}

std::optional<Manifest> kept_manifest(const std::string& dir, const ContentId& content) {
  const auto path = std::filesystem::path(dir) / store::WorkFolder::manifest_path_of(content);
  auto manifest = read_manifest_file(path.string());
  if (!manifest.ok() || manifest->id != content) return std::nullopt;
  return *std::move(manifest);
}

content::ContentPlace found_content(const Info& info, const content::ContentPlace& named,
                                    Console& console) {
  content::ContentPlace found = content::find_content(info, named);
  if (found.dir != named.dir)
    console.info(named.dir + " does not hold " + content::top_name(info, named.as) + "; taking " +
                 (found.as == named.as ? "the one" : found.as) + " in " + found.dir);
  return found;
}

Result<std::string> named_path(const std::string& path) {
  std::filesystem::path given(path);
  if (!given.has_filename()) given = given.parent_path();  // "folder/"
  const std::string last = given.filename().string();
  if (last != "." && last != "..") return path;
  std::error_code error;
  const auto real = std::filesystem::canonical(given, error);
  if (error) return error_from_errno("examine " + path, error.value());
  return real.string();
}

std::string folder_of(const std::string& path) {
  return place_of(path).dir;
}

content::ContentPlace place_of(const std::string& path) {
  std::filesystem::path given(path);
  if (!given.has_filename()) given = given.parent_path();  // "folder/"
  const std::string folder = given.parent_path().string();
  return {folder.empty() ? "." : folder, given.filename().string()};
}

}  // namespace firn::app
