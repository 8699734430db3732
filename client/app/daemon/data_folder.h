// The folder in which a daemon keeps its state, and where daemon and commands meet by default.
// While it is taken no other daemon can take it.
#pragma once

#include <cstdint>
#include <string>

#include "proto/base/result.h"
#include "proto/base/unique_fd.h"

namespace firn::app {

class DataFolder {
 public:
  // $XDG_STATE_HOME/firn, else ~/.local/state/firn; empty if HOME is not set either.
  static std::string default_path();
  // $XDG_RUNTIME_DIR/firn.sock, else firn.sock in `data`.
  static std::string default_socket(const std::string& data);
  // Where a daemon of that folder is asked: its default socket, or where there is none, the one of
  // a daemon that was started without XDG_RUNTIME_DIR, as the system's services are.
  static std::string socket_to_ask(const std::string& data);

  // Makes the folder, for its owner alone, if it is missing. Errors: kExists (another daemon has
  // it), kBadInput (`path` is empty), others as errno says.
  static Result<DataFolder> take(const std::string& path);

  const std::string& path() const { return path_; }
  // The list of contents (contents_store.h). kCorrupt: it has no byte left, though a daemon has run
  // here: a first run makes the list before its key.
  Result<std::string> contents_file() const;
  // The key by which peers know the daemon, unless it is given another.
  std::string identity_file() const { return path_ + "/identity.pem"; }
  // Names of files with a port: at which peers, the page's readers, and players reached it last.
  static constexpr const char* kPeersPort = "port";
  static constexpr const char* kPagePort = "page-port";
  static constexpr const char* kStreamPort = "stream-port";
  // 0: none is known.
  std::uint16_t port(const char* name) const;
  // Errors: as errno says.
  Status keep_port(const char* name, std::uint16_t port) const;

 private:
  DataFolder(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  UniqueFd lock_;
};

}  // namespace firn::app
