#include "client/app/push/install_archive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gnu/libc-version.h>
#include <spawn.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>
#include <vector>

#include "client/app/push/program_copy.h"
#include "client/app/version.h"
#include "proto/base/digest.h"
#include "proto/base/plain_text.h"
#include "proto/program/input_file.h"

namespace firn::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kListBytesMax = 1 << 20;

std::string sha256_text(std::string_view bytes) {
  const Digest digest = sha256({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  return fmt::format("{:02x}", fmt::join(digest.bytes, ""));
}

// The numbers of 2.36; nullopt for all else.
std::optional<std::pair<unsigned, unsigned>> glibc_numbers(std::string_view text) {
  std::array<unsigned, 2> numbers{};
  std::size_t at = 0;
  for (std::size_t part = 0; part < numbers.size(); ++part) {
    if (part > 0 && (at == text.size() || text[at++] != '.')) return std::nullopt;
    const std::size_t first = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      if (at - first == 4) return std::nullopt;
      numbers[part] = numbers[part] * 10 + static_cast<unsigned>(text[at] - '0');
    }
    if (at == first) return std::nullopt;
  }
  // A third number, of a release between two, changes nothing.
  if (at < text.size() && text[at] != '.') return std::nullopt;
  return std::pair(numbers[0], numbers[1]);
}

Result<bool> run_tar(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "tar");
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  pid_t child = 0;
  const std::string doing = fmt::format("run {}", fmt::join(arguments, " "));
  if (const int problem = ::posix_spawnp(&child, "tar", nullptr, nullptr, words.data(), environ)) {
    return error_from_errno(doing, problem);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return error_from_errno(doing, errno);
  }
  // What is wrong tar has said on standard error.
  if (status != 0) return Error{ErrorCode::kIo, doing, "it failed"};
  return true;
}

// SHA256SUMS of the folder, in the form of sha256sum.
Result<std::string> sums_of(const fs::path& top) {
  std::vector<std::string> lines;
  std::error_code problem;
  for (fs::recursive_directory_iterator at(top, problem), end; !problem && at != end;
       at.increment(problem)) {
    if (!at->is_regular_file(problem)) continue;
    std::ifstream file(at->path(), std::ios::binary);
    Sha256 sum;
    std::array<char, 1 << 16> piece;
    while (file.read(piece.data(), piece.size()), file.gcount() > 0) {
      sum.update({reinterpret_cast<const std::uint8_t*>(piece.data()),
                  static_cast<std::size_t>(file.gcount())});
    }
    if (!file.eof()) return error_from_errno("read " + at->path().string(), EIO);
    lines.push_back(fmt::format("{:02x}  {}\n", fmt::join(sum.finish().bytes, ""),
                                at->path().lexically_relative(top).string()));
  }
  if (problem) return error_from_errno("read " + top.string(), problem.value());
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, ""));
}

Result<bool> write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) return error_from_errno("write " + path.string(), EIO);
  return true;
}

// A copy of this program below `place`; its folder.
Result<fs::path> own_copy(const fs::path& place) {
  utsname system{};
  ::uname(&system);
  const ArchiveNeeds needs{kVersion, system.machine, ::gnu_get_libc_version()};
  const fs::path top = place / (std::string("firn-") + kVersion);
  if (auto made = copy_program(top); !made) return made.error();
  if (auto done = write_text(top / "NEEDS", needs.text()); !done) return done.error();
  const auto sums = sums_of(top);
  if (!sums) return sums.error();
  if (auto done = write_text(top / "SHA256SUMS", *sums); !done) return done.error();
  return top;
}

// The one folder of an archive that a user named, unpacked below `place`.
Result<fs::path> unpacked(const std::string& archive, const fs::path& place) {
  const std::string doing = "read the archive " + archive;
  const std::string advice = "make one with scripts/package --portable";
  std::error_code problem;
  if (!fs::is_regular_file(archive, problem)) {
    return Error{ErrorCode::kNotFound, doing, "there is no such file; " + advice};
  }
  std::array<char, 2> magic{};
  std::ifstream(archive, std::ios::binary).read(magic.data(), magic.size());
  if (magic != std::array<char, 2>{'\x1f', '\x8b'}) {
    return Error{ErrorCode::kBadInput, doing, "it is no tar.gz; " + advice};
  }
  const fs::path folder = place / "unpacked";
  fs::create_directory(folder, problem);
  const std::string file = fs::absolute(archive, problem);
  if (auto done = run_tar({"-xzf", file, "-C", folder}); !done) return done.error();
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, problem)) found.push_back(entry.path());
  if (found.size() != 1 || !fs::exists(found[0] / "NEEDS", problem) ||
      !fs::exists(found[0] / "SHA256SUMS", problem)) {
    return Error{ErrorCode::kBadInput, doing, "it holds no firn for other machines; " + advice};
  }
  return found[0];
}

}  // namespace

std::string ArchiveNeeds::refusal(std::string_view host_machine,
                                  std::string_view host_glibc) const {
  static constexpr const char* kAdvice =
      "install firn there, or name an archive for it with --install-archive";
  if (host_machine != machine) {
    return fmt::format("the host is {}, and the archive for {}: {}",
                       to_plain_text(host_machine, 32), machine, kAdvice);
  }
  const auto has = glibc_numbers(host_glibc);
  if (!has)
    return fmt::format("the host has no glibc, and the archive needs {}: {}", glibc, kAdvice);
  if (*has < *glibc_numbers(glibc)) {
    return fmt::format("the host has glibc {}, and the archive needs {}: {}",
                       to_plain_text(host_glibc, 32), glibc, kAdvice);
  }
  return {};
}

std::string ArchiveNeeds::text() const {
  return fmt::format("firn {}\nmachine {}\nglibc {}\n", firn, machine, glibc);
}

std::optional<ArchiveNeeds> ArchiveNeeds::parse(std::string_view text) {
  ArchiveNeeds needs;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const std::string value(line.substr(space + 1));
    if (value.empty() || value.size() > 64 || !is_plain_text(value)) return std::nullopt;
    if (line.starts_with("firn ")) needs.firn = value;
    if (line.starts_with("machine ")) needs.machine = value;
    if (line.starts_with("glibc ")) needs.glibc = value;
  }
  if (needs.firn.empty() || needs.machine.empty() || !glibc_numbers(needs.glibc)) {
    return std::nullopt;
  }
  return needs;
}

Result<InstallArchive> InstallArchive::make(const std::string& given) {
  InstallArchive archive;
  auto folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  archive.folder_ = std::move(*folder);
  const fs::path place = archive.folder_->path();

  std::error_code problem;
  fs::path top = fs::path(program_path()).parent_path().parent_path();
  if (!given.empty()) {
    const auto found = unpacked(given, place);
    if (!found) return found.error();
    top = *found;
    archive.path_ = given;
  } else {
    if (!fs::exists(top / "NEEDS", problem) || !fs::exists(top / "SHA256SUMS", problem)) {
      const auto copy = own_copy(place);
      if (!copy) return copy.error();
      top = *copy;
    }
    archive.path_ = place / "firn.tar.gz";
    const auto packed = run_tar({"-czf", archive.path_, "-C", top.parent_path(), top.filename()});
    if (!packed) return packed.error();
  }

  const auto needs = read_input_file(top / "NEEDS", kListBytesMax);
  if (!needs) return needs.error();
  const auto sums = read_input_file(top / "SHA256SUMS", kListBytesMax);
  if (!sums) return sums.error();
  const auto parsed = ArchiveNeeds::parse(*needs);
  if (!parsed) {
    return Error{ErrorCode::kBadInput, "read NEEDS of " + (given.empty() ? top.string() : given),
                 "it names no firn, machine and glibc"};
  }
  archive.needs_ = *parsed;
  archive.digest_ = sha256_text(*sums);
  archive.bytes_ = fs::file_size(archive.path_, problem);
  if (problem) return error_from_errno("read " + archive.path_, problem.value());
  return archive;
}

}  // namespace firn::app
