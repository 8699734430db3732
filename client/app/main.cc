#include <malloc.h>

#include <cstdio>

#include "client/app/cli.h"
#include "client/app/console/exit_codes.h"
#include "proto/program/hangup.h"
#include "proto/program/needless_signals.h"
#include "proto/program/process_words.h"
#include "proto/program/standard_streams.h"
#include "proto/transport/descriptors.h"
#include "proto/transport/name_question.h"

int main(int argc, char** argv) {
  firn::open_missing_streams();
  firn::keep_hangup_waiting();
  // For the C library's allocator, where it is the one at work (mimalloc takes its place where it
  // is installed). Payloads are taken on I/O threads and given back on workers. With an arena for
  // each thread, every arena would keep its own peak of them; and blocks above 128 KiB would each
  // be mapped from and returned to the kernel. Two arenas, and mapping from 4 MiB on, keep the
  // process near what --memory says. A generation's buffer is mapped all the same, and used again
  // (runtime/buffer_pool.h).
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 16 << 20);
  firn::ignore_needless_signals();
  firn::proto::transport::raise_descriptor_limit();
  if (const firn::Status starts = firn::proto::transport::have_descriptors_to_start();
      !starts.ok()) {
    std::fprintf(stderr, "firn: %s\n", starts.error().message().c_str());
    return static_cast<int>(firn::app::exit_code_of(starts.error()));
  }
  const char* const* const words = firn::take_process_words(argc, argv);
  return firn::proto::transport::end_process(firn::app::run_cli(argc, words));
}
