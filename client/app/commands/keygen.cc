// firn keygen FILE: a publisher's key.
#include <nlohmann/json.hpp>

#include "client/app/commands/commands.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/transfer/running.h"
#include "proto/base/digest.h"
#include "proto/program/key_file.h"
#include "proto/program/output_file.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct KeygenArguments {
  std::string file;
  bool show = false;
  bool id = false;
  ConsoleOptions console;
};

Result<SigningKey> key_of(const KeygenArguments& arguments) {
  if (arguments.show) return read_key_file(arguments.file);
  const Status possible = OutputFile(arguments.file, kKeyFile).check();
  if (!possible.ok()) return possible.error();
  SigningKey key = SigningKey::generate();
  const auto written = write_new_key_file(arguments.file, key);
  if (!written.ok()) return written.error();
  if (*written) return key;
  return Error{ErrorCode::kExists, "write " + arguments.file,
               "something stands there, and a key that is written over is lost; name another file "
               "(firn keygen --show prints the public key of one that exists)"};
}

ExitCode run(const KeygenArguments& arguments, Console& out) {
  const auto key = key_of(arguments);
  if (!key.ok()) return fail(out, key.error());
  const std::string id = peer_id_of(key->public_key()).text();
  out.event({{"event", "key"},
             {"public_key", key->public_key().text()},
             {"peer", id},
             {"file", arguments.file},
             {"made", !arguments.show}});
  if (!out.json()) out.print(arguments.id ? id : key->public_key().text());
  return ExitCode::kOk;
}

}  // namespace

void add_keygen_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<KeygenArguments>();
  CLI::App* command = app.add_subcommand(
      "keygen", "make a publisher's key, for --sign; prints its public key, for --publisher");
  command->add_option("FILE", arguments->file, "where to keep the secret key")
      ->required()
      ->check(not_empty());
  command->add_flag("--show", arguments->show, "print the public key of a FILE that exists")
      ->configurable(false);
  command
      ->add_flag("--id", arguments->id,
                 "print the id of a peer that has this key as its --identity, for certify")
      ->configurable(false);
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
