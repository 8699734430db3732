#include <malloc.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "client/app/cli.h"
#include "client/app/console/exit_codes.h"
#include "proto/content/content_secret.h"
#include "proto/program/hangup.h"
#include "proto/program/needless_signals.h"
#include "proto/program/standard_streams.h"
#include "proto/transport/descriptors.h"
#include "proto/transport/name_question.h"

namespace {

// Other users see the words that a process was started with.
void hide_secrets(int argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    const std::string shown = firn::without_secrets(argv[i]);
    const std::size_t bytes = std::strlen(argv[i]);
    if (shown.size() < bytes) std::strncpy(argv[i], shown.c_str(), bytes);  // and zeros behind
  }
}

}  // namespace

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
  const std::vector<std::string> words(argv, argv + argc);
  hide_secrets(argc, argv);
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  arguments.push_back(nullptr);
  return firn::proto::transport::end_process(firn::app::run_cli(argc, arguments.data()));
}
