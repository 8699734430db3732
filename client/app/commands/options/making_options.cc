#include "client/app/commands/options/making_options.h"

#include "client/app/commands/options/bytes_option.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/commands/transfer/stop_request.h"
#include "client/content/top_name.h"
#include "proto/base/limits.h"
#include "proto/base/plain_text.h"
#include "proto/program/usage.h"

namespace firn::app {

void add_making_options(CLI::App& app, MakingOptions& options) {
  const std::string group = "Files";
  app.add_option("--symlinks", options.symlinks,
                 "symbolic links in a folder: refuse it, skip them, or keep them as links")
      ->option_text("refuse|skip|keep")
      ->check(CLI::IsMember({"refuse", "skip", "keep"}).description(""))
      ->capture_default_str()
      ->group(group);
  app.add_option(
         "--exclude", options.excludes,
         "leave out what matches: a name or the end of a path anywhere (*.tmp, docs/*.o), a path "
         "from "
         "the folder on (/build), or, with / at the end, folders alone; * stops at / (repeatable)")
      ->option_text("GLOB")
      ->check(CLI::Validator(
          [](const std::string& glob) {
            return glob.empty() || glob == "/" || glob == "./" ? "it names nothing" : "";
          },
          ""))
      ->group(group);
  app.add_flag("--skip-bad-names", options.skip_bad_names,
               "leave out files with names that some systems do not accept")
      ->group(group);
  app.add_option("--generation-size", options.generation_size,
                 "blocks in a generation (default: by content size)")
      ->option_text("N")
      ->check(between(std::size_t{1}, limits::kGenerationSizeMax))
      ->group(group);
  add_bytes_option(app, "--block-size", options.block_bytes,
                   "bytes in a block (default: by content size)")
      ->check(between(1u, 1u << 20))
      ->group(group);
}

void add_private_options(CLI::App& app, MakingOptions& options) {
  CLI::Option* const is_private =
      app.add_flag("--private", options.is_private,
                   "only peers that have the link can find or get the content: they prove to each "
                   "other that they "
                   "know its secret, and trackers see neither content id nor manifest");
  app.add_flag("--fresh-secret", options.fresh_secret,
               "a private link that nobody has yet (default: the same link for the same files, as "
               "long as this account or --sign has the same key)")
      ->needs(is_private);
}

content::CreateOptions create_options(const MakingOptions& options, unsigned threads,
                                      const std::string& what, Console& console,
                                      std::set<std::string>& excludes_used) {
  using Links = content::ScanOptions::Links;
  content::CreateOptions create;
  create.generation_size = options.generation_size;
  create.block_bytes = static_cast<std::uint32_t>(options.block_bytes);
  create.threads = threads;
  create.is_private = options.is_private;
  create.progress = show_progress(console, what);
  create.cancelled = create.scan.cancelled = StopRequest::poll();
  create.scan.links = options.symlinks == "keep"   ? Links::kKeep
                      : options.symlinks == "skip" ? Links::kSkip
                                                   : Links::kRefuse;
  create.scan.excludes = options.excludes;
  create.scan.skip_bad_names = options.skip_bad_names;
  create.scanned = [&console, &excludes_used](const content::Scan& scan) {
    for (const std::string& left_out : scan.skipped) console.warning("left out: " + left_out);
    if (!scan.odd_times.empty())
      console.warning("the times of " + std::to_string(scan.odd_times.size()) +
                      " files or folders are outside the years 1677 to 2262 and are kept as the "
                      "first or last moment of these, for one that of " +
                      escaped(scan.odd_times.front()));
    excludes_used.insert(scan.excludes_used.begin(), scan.excludes_used.end());
    if (const std::string_view fault = content::name_fault(scan.name, false); !fault.empty())
      console.warning("the name " + scan.name + " " + std::string(fault) +
                      ": a receiver must choose another one (--as NAME)");
  };
  return create;
}

std::optional<ContentSecret> secret_for(const MakingOptions& options, const Signer& signer,
                                        const ContentId& content) {
  if (!options.is_private) return std::nullopt;
  return options.fresh_secret ? ContentSecret::generate() : signer.secret_for(content);
}

void warn_of_unused_excludes(const MakingOptions& options, const std::set<std::string>& used,
                             Console& console) {
  for (const std::string& pattern : options.excludes)
    if (!used.contains(pattern))
      console.warning("--exclude '" + pattern + "' left nothing out: nothing there matches it");
}

}  // namespace firn::app
