// firn certify X.firn ID...: certificates by which other peers, such as mirrors that are not to
// have the key, speak for a content's authority (firn seed --certificate).
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/app/commands/commands.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/options/publishing_options.h"
#include "client/app/commands/transfer/running.h"
#include "proto/content/authority.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct CertifyArguments {
  std::string manifest;
  std::vector<std::string> peers;
  SigningOptions signing;
  ConsoleOptions console;
};

std::string fault_of_id(const std::string& text) {
  return PeerId::from_text(text) ? "" : "a peer's id has 52 characters a-z and 2-7: " + text;
}

Result<std::string> certificate_for(const Signer& signer, const Manifest& manifest,
                                    const PeerId& peer) {
  auto certificate = signer.certificate(manifest, peer);
  if (!certificate.ok() || !certificate->empty()) return certificate;
  return Error{
      ErrorCode::kBadInput, "certify peers for " + manifest.info.name,
      manifest.info.authority_key.empty()
          ? "the content names no authority, so that nobody can speak for it"
          : "it is not this account that made the content; --sign names its authority's key"};
}

ExitCode run(const CertifyArguments& arguments, Console& out) {
  const auto manifest = read_manifest_file(arguments.manifest);
  if (!manifest.ok()) return fail(out, manifest.error());
  const auto signer = Signer::for_serving(arguments.signing);
  if (!signer.ok()) return fail(out, signer.error());
  for (const std::string& text : arguments.peers) {
    const auto certificate = certificate_for(*signer, *manifest, *PeerId::from_text(text));
    if (!certificate.ok()) return fail(out, certificate.error());
    const std::string shown = certificate_text(*certificate);
    out.event({{"event", "certificate"},
               {"content", manifest->id.text()},
               {"peer", text},
               {"certificate", shown}});
    if (!out.json()) out.print(shown);
  }
  return ExitCode::kOk;
}

}  // namespace

void add_certify_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<CertifyArguments>();
  CLI::App* command = app.add_subcommand(
      "certify",
      "let other peers speak for a content's authority without its key: prints a certificate for "
      "each, for seed --certificate");
  command->add_option("X.firn", arguments->manifest, "the content's manifest")
      ->required()
      ->check(not_empty());
  command
      ->add_option("ID", arguments->peers,
                   "ids of peers, as their links have them before @ (firn keygen --id prints it)")
      ->required()
      ->option_text("ID ...")
      ->check(CLI::Validator([](const std::string& text) { return fault_of_id(text); }, ""));
  add_sign_option(*command, arguments->signing);
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
