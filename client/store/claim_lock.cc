#include "client/store/claim_lock.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <vector>

namespace firn::store {
namespace {

// The name of a claim's file: these, with dots between them.
struct Claimant {
  std::string machine;    // /etc/machine-id, or "-"
  std::string boot;       // another after each start of the machine
  std::string processes;  // which numbers `process` is one of: containers have their own
  std::string process;
  std::string started;  // numbers are used again
  std::string count;    // of this process
  std::string host;     // for people; may have dots itself
};

std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  return file >> word ? word : "-";
}

// When a process began, in ticks since the machine did; "-" if that cannot be read.
std::string start_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string line;
  std::getline(file, line);
  constexpr int kFieldsBetween = 19;  // proc(5): from the one after the name to `starttime`
  std::size_t at = line.rfind(')');
  for (int field = 0; field <= kFieldsBetween && at != std::string::npos; ++field)
    at = line.find(' ', at + 1);
  return at == std::string::npos ? "-" : line.substr(at + 1, line.find(' ', at + 1) - at - 1);
}

std::string process_namespace() {
  std::array<char, 64> name{};
  const ssize_t bytes = ::readlink("/proc/self/ns/pid", name.data(), name.size());
  std::string digits;
  for (ssize_t i = 0; i < bytes; ++i)
    if (name[static_cast<std::size_t>(i)] >= '0' && name[static_cast<std::size_t>(i)] <= '9')
      digits += name[static_cast<std::size_t>(i)];
  return digits.empty() ? "-" : digits;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "-";
  return name.data();
}

Claimant this_process() {
  static std::atomic<std::uint64_t> count = 0;
  const std::string process = std::to_string(::getpid());
  return {first_word("/etc/machine-id"),
          first_word("/proc/sys/kernel/random/boot_id"),
          process_namespace(),
          process,
          start_of(process),
          std::to_string(++count),
          host_name()};
}

std::string file_name_of(const Claimant& one) {
  return one.machine + "." + one.boot + "." + one.processes + "." + one.process + "." +
         one.started + "." + one.count + "." + one.host;
}

std::optional<Claimant> claimant_of(std::string name) {
  Claimant one;
  for (std::string* field :
       {&one.machine, &one.boot, &one.processes, &one.process, &one.started, &one.count}) {
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos) return std::nullopt;
    *field = name.substr(0, dot);
    name.erase(0, dot + 1);
  }
  one.host = std::move(name);
  return one;
}

bool has_ended(const Claimant& other, const Claimant& self) {
  if (other.boot == "-" || self.boot == "-") return false;
  if (other.boot != self.boot)
    return self.machine.size() == 32 && other.machine == self.machine && other.host == self.host;
  if (other.processes != self.processes || self.processes == "-") return false;
  int number = 0;
  const char* const end = other.process.data() + other.process.size();
  if (std::from_chars(other.process.data(), end, number).ptr != end || number <= 0) return false;
  if (::kill(number, 0) != 0 && errno == ESRCH) return true;
  const std::string started = start_of(other.process);
  return started != "-" && other.started != "-" && started != other.started;
}

class ClaimLock final : public Lock {
 public:
  ClaimLock(std::unique_ptr<Files> files, std::string folder, std::string path)
      : files_(std::move(files)), folder_(std::move(folder)), path_(std::move(path)) {}
  ~ClaimLock() override {
    (void)files_->remove(path_).ok();
    (void)files_->remove_folder(folder_).ok();
  }

 private:
  const std::unique_ptr<Files> files_;
  const std::string folder_, path_;
};

Error held_by(const Files& files, const std::string& folder, const std::string& name) {
  const std::optional<Claimant> other = claimant_of(name);
  return {ErrorCode::kExists, "lock " + files.full_path(folder),
          "a firn" + (other ? " on " + other->host + " (process " + other->process + ")" : "") +
              " uses this, or was stopped without warning; if none runs, remove " +
              files.full_path(folder + "/" + name)};
}

// A process that gives up the last claim removes the folder, perhaps between these two calls.
Status make_claim(Files& files, const std::string& folder, const std::string& path) {
  Status made = Done{};
  for (int tries = 0; tries < 3; ++tries) {
    if (Status s = make_folders(files, folder); !s) return s;
    const auto file = files.open(path, Files::Open::kMake);
    made = file ? Status(Done{}) : file.error();
    if (made || made.error().code != ErrorCode::kNotFound) break;
  }
  return made;
}

}  // namespace

Result<std::unique_ptr<Lock>> take_claim(std::unique_ptr<Files> files, const std::string& folder) {
  const Claimant self = this_process();
  const std::string own = file_name_of(self);
  Files& there = *files;
  if (Status s = make_claim(there, folder, folder + "/" + own); !s) return s.error();
  auto lock = std::make_unique<ClaimLock>(std::move(files), folder, folder + "/" + own);
  const Result<std::vector<std::string>> names = there.list(folder);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (name == own) continue;
    const std::optional<Claimant> other = claimant_of(name);
    if (!other || !has_ended(*other, self)) return held_by(there, folder, name);
    if (Status s = there.remove(folder + "/" + name); !s) return s.error();
  }
  return std::unique_ptr<Lock>(std::move(lock));
}

}  // namespace firn::store
