// firn doctor: what this build and this machine can do.
#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>
#include <openssl/crypto.h>
#include <sys/resource.h>
#include <uv.h>
#include <nlohmann/json.hpp>

#include <thread>

#include "client/app/backends/codec_choice.h"
#include "client/app/commands/commands.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/console/quantities.h"
#include "client/app/origin/transfers.h"
#include "client/app/runtime/worker_pool.h"
#include "client/app/version.h"
#include "codec/kernels.h"
#include "proto/base/commit.h"
#include "proto/base/limits.h"

namespace firn::app {
namespace {

struct DoctorArguments {
  std::string kernels;
  ConsoleOptions console;
};

Json gpus_json(const std::vector<cuda::Device>& devices) {
  Json gpus = Json::array();
  for (const cuda::Device& gpu : devices) {
    gpus.push_back({{"index", gpu.index},
                    {"name", gpu.name},
                    {"compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor)},
                    {"multiprocessors", gpu.multiprocessors},
                    {"memory_bytes", gpu.memory_bytes}});
  }
  return gpus;
}

std::string text_of(const cuda::Device& gpu) {
  return fmt::format("{}, compute capability {}.{}, {} multiprocessors, {}{}", gpu.name, gpu.major,
                     gpu.minor, gpu.multiprocessors, format_bytes(gpu.memory_bytes),
                     gpu.has_binary_wgmma() ? ", binary tensor cores" : "");
}

ExitCode run(const DoctorArguments& arguments, Console& console) {
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  Json available = Json::array();
  std::string names;
  for (const codec::Kernels* kernels : codec::available_kernels()) {
    available.push_back(kernels->name);
    names += (names.empty() ? "" : ", ") + std::string(kernels->name);
  }
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const std::string protobuf = google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
  const char* const openssl = OpenSSL_version(OPENSSL_VERSION);
  const std::string curl = transfers_library();
  const CodecChoice codec = *choose_codec(CodecMode::kAuto);
  const std::string driver = cuda::driver_version();
  if (console.json()) {
    console.event({{"event", "doctor"},
                   {"version", kVersion},
                   {"commit", build_commit()},
                   {"kernels", available},
                   {"kernels_used", codec::kernels().name},
                   {"cores", std::thread::hardware_concurrency()},
                   {"worker_threads", peer_worker_count()},
                   {"gpus", gpus_json(codec.devices)},
                   {"gpu_driver", driver},
                   {"codec", codec.text},
                   {"open_files_max", files.rlim_cur},
                   {"libuv", uv_version_string()},
                   {"openssl", openssl},
                   {"protobuf", protobuf},
                   {"libcurl", curl.empty() ? Json() : Json(curl)}});
    return ExitCode::kOk;
  }
  const auto row = [&](const std::string& what, const std::string& text) {
    console.print(fmt::format("{:<16} {}", what, text));
  };
  row("firn", version_text(kVersion));
  row("kernels", names + " (best first)");
  row("kernels used", codec::kernels().name);
  row("cores", std::to_string(std::thread::hardware_concurrency()));
  row("worker threads", std::to_string(peer_worker_count()));
  row("codec", codec.text);
  for (const cuda::Device& gpu : codec.devices)
    row("GPU " + std::to_string(gpu.index), text_of(gpu));
  row("GPU driver", driver.empty() ? "none" : "for CUDA " + driver);
  row("open files", fmt::format("{} at most", files.rlim_cur));
  row("generation", fmt::format("{} blocks, {} at most", limits::kGenerationSizeMax,
                                format_bytes(limits::kGenerationBytesMax)));
  row("block", format_bytes(limits::kBlockBytesMax) + " at most");
  row("libuv", uv_version_string());
  row("OpenSSL", openssl);
  row("protobuf", protobuf);
  row("libcurl", curl.empty() ? "none: this build fetches from no origins" : curl);
  return ExitCode::kOk;
}

}  // namespace

void add_doctor_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* command = app.add_subcommand("doctor", "show what this build and machine can do");
  add_kernels_option(*command, arguments->kernels);
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
