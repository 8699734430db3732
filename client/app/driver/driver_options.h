// What a command wants of its peer process, whatever the contents.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "client/app/backends/codec_choice.h"
#include "client/app/runtime/worker_pool.h"
#include "client/core/base/types.h"
#include "proto/base/address.h"

namespace firn::app {

// Connections that a process takes whose contents have so many peers each (0: as the core's policy
// says), with those that are yet to say what they want.
inline std::size_t connections_for(std::uint32_t peers_max) {
  return std::max<std::size_t>(4096, std::size_t{peers_max} + peers_max / 4);
}

// What --memory leaves for data. The program itself, its threads, TLS and what the allocator keeps
// of freed memory take about 36 MiB (docs/lab/086); the rest is a reserve.
inline std::uint64_t memory_for_data(std::uint64_t process_bytes) {
  constexpr std::uint64_t kProgramBytes = 48u << 20;
  return process_bytes - std::min(kProgramBytes, process_bytes / 2);
}

struct DriverOptions {
  std::string identity_file;  // empty: a fresh identity
  Address listen{{}, "*", 0};
  std::string interface;       // to listen on and connect through; empty: any
  std::uint64_t up_limit = 0;  // of all contents together, bytes per second; 0: none
  std::uint64_t down_limit = 0;
  std::uint64_t memory_bytes = memory_for_data(128u << 20);
  int io_threads = 1;
  CodecMode codec = CodecMode::kAuto;
  unsigned threads = peer_worker_count();  // for coding, hashing and disk
  std::size_t connections_max = connections_for(0);
  std::size_t content_count = 1;    // how many sessions share the memory
  bool only_serves = false;         // no session downloads
  bool profile = false;             // say at the end where processor time went
  bool stays = false;               // also without sessions, until it is told to stop
  core::TimeUs peers_interval = 0;  // between tables of peers; 0: only on SIGUSR1
};

// How the memory for data is shared out, in bytes. Frames on their way and decode buffers take what
// is left.
struct MemoryShares {
  explicit MemoryShares(const DriverOptions& options)
      : content(options.memory_bytes / std::max<std::size_t>(options.content_count, 1)),
        rows(options.memory_bytes / 16 * 7 / std::max<std::size_t>(options.content_count, 1)),
        cache(options.only_serves ? options.memory_bytes / 2 : options.memory_bytes / 8),
        inbox(options.memory_bytes / 16),
        idle_buffers(options.memory_bytes / 8) {}

  std::size_t content;  // what a content's core counts with
  // Of each content; what the core lets wait for the disk, three eighths of all, counts among them.
  std::size_t rows;
  std::size_t cache;  // of generations; a peer that only serves holds no rows
  std::size_t inbox;
  std::size_t idle_buffers;
};

}  // namespace firn::app
