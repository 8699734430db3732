// firn info LINK|X.firn: what a content is; with --files its files, by number.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/app/commands/commands.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/download_options.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/options/publishing_options.h"
#include "client/app/commands/transfer/find_manifest.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/console/quantities.h"
#include "client/content/entries_text.h"
#include "proto/base/limits.h"
#include "proto/content/origin_url.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

const char* kind_name(FileEntry::Kind kind) {
  switch (kind) {
    case FileEntry::Kind::kFolder:
      return "folder";
    case FileEntry::Kind::kLink:
      return "link";
    case FileEntry::Kind::kFile:
      break;
  }
  return "file";
}

std::string hex(const Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest.bytes) text += fmt::format("{:02x}", byte);
  return text;
}

struct InfoArguments {
  std::string source;
  bool files = false;
  content::FileChoice choice;
  std::string publisher;
  NetworkOptions network;
  ConsoleOptions console;
};

// The keys of a content's publisher and authority as text; empty where it has none.
struct Publishing {
  std::string signer, authority;
  bool own = false;  // this account's key made the authority
};

Publishing publishing_of(const Manifest& manifest) {
  Publishing by;
  if (manifest.publisher) by.signer = PublicKey::from_bytes(manifest.publisher->key)->text();
  const auto authority = PublicKey::from_bytes(manifest.info.authority_key);
  if (!authority) return by;
  by.authority = authority->text();
  const auto signer = Signer::for_serving({});
  by.own = signer.ok() && signer->of_this_account(manifest);
  return by;
}

bool is_private(const ContentSource& source) {
  return source.secret || (source.manifest && source.manifest->info.is_private);
}

// The link to hand on, whichever form was read; empty for a private content, whose secret no
// command repeats.
std::string link_of(const ContentSource& source) {
  if (is_private(source)) return "";
  return to_text(
      Link{source.content_id, source.trackers, source.peers, source.publisher, {}, source.origins});
}

// A server that has the content's files, as the link or manifest names it.
struct NamedOrigin {
  std::string shown;  // OriginUrl::shown()
  bool by_link = false;
  bool is_signed = false;  // by the manifest's publisher
};

std::vector<NamedOrigin> origins_of(const ContentSource& source) {
  std::vector<NamedOrigin> origins;
  const auto add = [&](const std::string& url, bool by_link, bool is_signed) {
    origins.push_back({parse_origin(url)->shown(), by_link, is_signed});
  };
  const std::vector<std::string> of_manifest =
      source.manifest ? source.manifest->origins : std::vector<std::string>();
  for (const std::string& url : source.origins)
    if (std::ranges::find(of_manifest, url) == of_manifest.end()) add(url, true, false);
  if (source.manifest)
    for (const std::string& url : of_manifest) add(url, false, source.manifest->origins_signed);
  return origins;
}

// `chosen`: content::chosen_files().
Json json_of(const ContentSource& source, const std::vector<bool>& chosen) {
  Json info = {{"event", "info"}, {"content_id", source.content_id.text()}};
  const std::string link = link_of(source);
  info["link"] = link.empty() ? Json() : Json(link);
  info["publisher"] = source.publisher ? Json(source.publisher->text()) : Json();
  for (const char* kind : {"trackers", "peers"}) {
    Json addresses = Json::array();
    for (const Address& address : kind[0] == 't' ? source.trackers : source.peers)
      addresses.push_back(to_text(address));
    info[kind] = std::move(addresses);
  }
  Json origins = Json::array();
  for (const NamedOrigin& origin : origins_of(source))
    origins.push_back({{"url", origin.shown},
                       {"named_by", origin.by_link ? "link" : "manifest"},
                       {"signed", origin.is_signed}});
  info["origins"] = std::move(origins);
  info["private"] = is_private(source);
  if (const auto keys = source.keys()) info["rendezvous"] = keys->rendezvous().text();
  info["manifest"] = source.manifest.has_value();
  if (!source.manifest) return info;
  const Publishing by = publishing_of(*source.manifest);
  info["signed_by"] = by.signer.empty() ? Json() : Json(by.signer);
  info["authority"] = by.authority.empty() ? Json() : Json(by.authority);
  info["authority_is_own"] = by.own;
  const Info& about = source.manifest->info;
  info["name"] = about.name;
  info["single_file"] = about.single_file;
  info["bytes"] = about.shape.content_bytes;
  info["generations"] = about.shape.generation_count();
  info["generation_size"] = about.shape.generation_size;
  info["block_bytes"] = about.shape.block_bytes;
  Json files = Json::array();
  for (const FileEntry& file : about.files) {
    files.push_back({{"number", files.size() + 1},
                     {"path", file.path},
                     {"bytes", file.bytes},
                     {"mode", fmt::format("{:04o}", file.mode)},
                     {"modified_ns", file.modified_ns},
                     {"kind", kind_name(file.kind)},
                     {"chosen", bool{chosen[files.size()]}}});
    if (file.kind == FileEntry::Kind::kFile) files.back()["sha256"] = hex(file.digest);
    if (file.kind == FileEntry::Kind::kLink) files.back()["target"] = file.target;
  }
  info["files"] = std::move(files);
  const std::vector<FileEntry> entries = content::chosen_entries(about, chosen);
  info["chosen_files"] = entries.size();
  info["chosen_bytes"] = content::bytes_of(entries);
  Json folders = Json::array();
  for (const FolderEntry& folder : about.folders)
    folders.push_back({{"path", folder.path},
                       {"mode", fmt::format("{:04o}", folder.mode)},
                       {"modified_ns", folder.modified_ns}});
  info["folders"] = std::move(folders);
  return info;
}

std::string file_row(const Info& info, const FileEntry& file) {
  const bool has_bytes = file.kind == FileEntry::Kind::kFile;
  return fmt::format("{:>12}  {}{}", has_bytes ? format_bytes(file.bytes) : "-",
                     info.single_file ? info.name : file.path,
                     file.kind == FileEntry::Kind::kFolder ? "/"
                     : file.kind == FileEntry::Kind::kLink ? " -> " + file.target
                                                           : "");
}

void print_table(const ContentSource& source, Console& console) {
  const auto row = [&](const std::string& what, const std::string& text) {
    console.print(fmt::format("{:<12} {}", what, text));
  };
  row("content id", source.content_id.text());
  if (const std::string link = link_of(source); !link.empty()) row("link", link);
  if (source.publisher) row("publisher", source.publisher->text() + " must have signed it");
  if (is_private(source)) row("private", "only peers that know the link's secret get it");
  if (const auto keys = source.keys()) row("rendezvous", keys->rendezvous().text());
  for (const Address& tracker : source.trackers) row("tracker", to_text(tracker));
  for (const Address& peer : source.peers) row("peer", to_text(peer));
  for (const NamedOrigin& origin : origins_of(source))
    row("origin", origin.shown + (origin.by_link     ? " (the link names it)"
                                  : origin.is_signed ? " (signed by the publisher)"
                                                     : " (not signed)"));
  if (!source.manifest) return;
  const Info& info = source.manifest->info;
  const Shape& shape = info.shape;
  row("name", info.name);
  row("size", fmt::format("{} ({} bytes)", format_bytes(shape.content_bytes), shape.content_bytes));
  row("shape", fmt::format("{} generation{} of {} blocks of {}", shape.generation_count(),
                           shape.generation_count() == 1 ? "" : "s", shape.generation_size,
                           format_bytes(shape.block_bytes)));
  row("manifest", format_bytes(source.manifest->file_bytes.size()));
  const Publishing by = publishing_of(*source.manifest);
  row("signed by", by.signer.empty() ? "nobody" : by.signer);
  row("authority",
      by.authority.empty() ? "none" : by.authority + (by.own ? " (this account's)" : ""));
  if (info.single_file) return;
  row("files", content::entries_text(info.files));
  for (const FileEntry& file : info.files) console.print("  " + file_row(info, file));
}

// By the numbers that --select-file takes. `marked`: a choice is tried.
void print_files(const Info& info, const std::vector<bool>& chosen, bool marked, Console& console) {
  const auto& files = info.files;
  const std::size_t digits = std::to_string(files.size()).size();
  for (std::size_t i = 0; i < files.size(); ++i) {
    const char* const mark = !marked ? "" : chosen[i] ? "* " : "  ";
    console.print(fmt::format("{}{:>{}}  {}", mark, i + 1, digits, file_row(info, files[i])));
  }
  const std::vector<FileEntry> entries = content::chosen_entries(info, chosen);
  const std::uint64_t bytes = content::bytes_of(entries);
  console.print(fmt::format("{}, {} ({} bytes)",
                            marked ? content::part_of_entries(entries.size(), files) + " chosen"
                                   : content::entries_text(files),
                            format_bytes(bytes), bytes));
}

ExitCode run(const InfoArguments& arguments, Console& console) {
  auto source = read_source(arguments.source);
  if (!source.ok()) return fail(console, source.error());
  if (const Status right = require_publisher(*source, arguments.publisher); !right.ok())
    return fail(console, right.error());
  // Of a file that the user named. What comes from the network anybody may have signed.
  if (!source->publisher && source->manifest && source->manifest->publisher)
    source->publisher = PublicKey::from_bytes(source->manifest->publisher->key);
  const ExitCode code = find_manifest(arguments.network, *source, console);
  const bool tried = !arguments.choice.empty();
  std::vector<bool> chosen;
  if (source->manifest) {
    auto files = content::chosen_files(source->manifest->info, arguments.choice);
    if (!files.ok()) return fail(console, files.error());
    chosen = *std::move(files);
  }
  if (console.json()) {
    console.event(json_of(*source, chosen));
  } else if (source->manifest && (arguments.files || tried)) {
    print_files(source->manifest->info, chosen, tried, console);
  } else {
    print_table(*source, console);
  }
  return code;
}

}  // namespace

void add_info_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<InfoArguments>();
  CLI::App* command = app.add_subcommand("info", "show what a link or manifest file describes");
  command->add_option("SOURCE", arguments->source, "link or manifest file")
      ->option_text("LINK|X.firn")
      ->required()
      ->check(not_empty());
  command
      ->add_flag("--files", arguments->files,
                 "list the files alone, with the numbers that --select-file takes; a choice by "
                 "--file, --skip or --select-file is marked with * and added up")
      ->configurable(false);
  add_choice_options(*command, arguments->choice);
  add_publisher_option(*command, arguments->publisher);
  add_network_options(*command, arguments->network);
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
