// firn create PATH|URL -o X.firn
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/app/commands/commands.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/download_options.h"
#include "client/app/commands/options/making_options.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/options/origin_options.h"
#include "client/app/commands/options/publishing_options.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/commands/transfer/stop_request.h"
#include "client/app/commands/transfer/url_source.h"
#include "client/app/console/quantities.h"
#include "client/app/runtime/worker_pool.h"
#include "client/content/create.h"
#include "client/content/entries_text.h"
#include "proto/content/link.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct CreateArguments {
  std::string path;  // or URL
  std::string as;    // of a URL
  std::string output;
  MakingOptions making;
  SigningOptions signing;
  std::vector<std::string> trackers;
  OriginOptions origins;
  ConsoleOptions console;
};

// Unsigned, and without origins. `url`: null for a file or folder of this machine.
Result<Manifest> make_unsigned(const CreateArguments& arguments, const UrlSource* url,
                               const content::CreateOptions& options, Console& out) {
  if (url != nullptr) return create_manifest_of_url(*url, arguments.origins, options, out);
  const auto path = named_path(arguments.path);
  if (!path.ok()) return path.error();
  return content::create_manifest(*path, options);
}

// What has been made, its link, and how to hand both out.
void tell_made(const CreateArguments& arguments, const Manifest& manifest, const Signer& signer,
               Console& out) {
  const Shape& shape = manifest.info.shape;
  out.event({{"event", "created"},
             {"content_id", manifest.id.text()},
             {"bytes", shape.content_bytes},
             {"files", manifest.info.files.size()},
             {"generations", shape.generation_count()},
             {"generation_size", shape.generation_size},
             {"block_bytes", shape.block_bytes},
             {"manifest", arguments.output}});
  const std::uint32_t generations = shape.generation_count();
  out.info(
      fmt::format("{}: {} in {}, {} generation{} of {} x {}", manifest.info.name,
                  format_bytes(shape.content_bytes), content::entries_text(manifest.info.files),
                  generations, generations == 1 ? "" : "s", shape.generation_size,
                  format_bytes(shape.block_bytes)),
      manifest.id);
  const auto secret = secret_for(arguments.making, signer, manifest.id);
  if (!out.json() || secret)  // nothing else tells the secret
    out.print(to_text(Link{manifest.id,
                           manifest.trackers,
                           {},
                           signer.publisher(),
                           secret,
                           origins_for_link(manifest.info, manifest.origins)}));
  if (!manifest.origins.empty())
    out.info(fmt::format("hand out {}{}: the origin has no manifest, so the link alone works only "
                         "while a tracker or peer has it, as after firn seed {} DIR",
                         arguments.output, secret ? " with the link (firn get LINK X.firn)" : "",
                         arguments.output),
             manifest.id);
}

ExitCode run_of_source(const CreateArguments& arguments, const UrlSource* url, Console& out) {
  auto trackers = parse_addresses(arguments.trackers);
  if (!trackers.ok()) return fail(out, trackers.error());
  const auto origins = origins_to_publish(url != nullptr ? with_origin(arguments.origins, *url, out)
                                                         : arguments.origins);
  if (!origins.ok()) return fail(out, origins.error());
  if (url == nullptr)
    if (const Status fit = check_origins_fit(*origins, arguments.path); !fit.ok())
      return fail(out, fit.error());
  const OutputFile output(arguments.output, kManifestFile);
  if (const Status free = check_output(output, arguments.path); !free.ok())
    return fail(out, free.error());
  if (const Status apart = check_key_apart(arguments.signing, arguments.path); !apart.ok())
    return fail(out, apart.error());
  const auto signer = Signer::for_making(arguments.signing, out);
  if (!signer.ok()) return fail(out, signer.error());
  std::set<std::string> excludes_used;
  auto options =
      create_options(arguments.making, default_worker_count(), "hashing", out, excludes_used);
  options.trackers = *trackers;
  options.authority = [&](const Info& info) { return signer->authority_for(info); };
  const StopRequest stop;
  auto unsigned_manifest = make_unsigned(arguments, url, options, out);
  if (!unsigned_manifest.ok())
    return fail_or_stop(out, unsigned_manifest.error(), "nothing was written");
  if (!origins->empty()) unsigned_manifest = with_origins(*unsigned_manifest, *origins);
  if (!unsigned_manifest.ok()) return fail(out, unsigned_manifest.error());
  const auto manifest = signer->sign(*std::move(unsigned_manifest));
  if (!manifest.ok()) return fail(out, manifest.error());
  for (const std::string& advice : origin_advice(*manifest)) out.warning(advice, manifest->id);
  warn_of_unused_excludes(arguments.making, excludes_used, out);
  const Status written = output.write(manifest->file_bytes);
  if (!written.ok()) return fail(out, written.error());

  tell_made(arguments, *manifest, *signer, out);
  return ExitCode::kOk;
}

ExitCode run(const CreateArguments& arguments, Console& out) {
  if (!is_url(arguments.path)) return run_of_source(arguments, nullptr, out);
  const auto url = read_url(arguments.path, arguments.as);
  return url.ok() ? run_of_source(arguments, &*url, out) : fail(out, url.error());
}

}  // namespace

void add_create_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<CreateArguments>();
  CLI::App* command = app.add_subcommand(
      "create", "make the manifest of a file or folder, also of a file of a web server");
  command
      ->add_option(
          "PATH", arguments->path,
          "file or folder; or the URL (https, http, s3; percent-encoded, so %25 for '%') of one "
          "file, which is read once and not kept")
      ->option_text("PATH|URL")
      ->required()
      ->check(not_empty());
  add_as_option(*command, arguments->as,
                "name for the content of a URL, instead of the URL's last part");
  command->add_option("-o,--output", arguments->output, "where to write the manifest")
      ->option_text("X.firn")
      ->configurable(false)
      ->required()
      ->check(not_empty());
  add_making_options(*command, arguments->making);
  add_private_options(*command, arguments->making);
  add_signing_options(*command, arguments->signing);
  command
      ->add_option("--tracker", arguments->trackers,
                   "a tracker to name in the manifest (repeatable)")
      ->option_text("ADDR");
  add_origin_option(*command, arguments->origins,
                    "name this http://, https:// or s3:// URL, which has the files too, in link "
                    "and manifest (repeatable)");
  add_origin_access_options(*command, arguments->origins);
  add_console_options(*command, arguments->console);
  command->callback([arguments, &chosen] {
    if (!arguments->as.empty() && !is_url(arguments->path))
      throw CLI::ValidationError("--as", "is for a URL: a file or folder has its own name");
    chosen = run_of(arguments, run, {arguments->path});
  });
}

}  // namespace firn::app
