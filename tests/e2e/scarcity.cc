// Preloaded into a program (LD_PRELOAD): one thread or one large piece of memory that it asks for
// cannot be had, or the file system lacks something.
//
//   FIRN_TEST_LACKING=links,locks  symbolic links, as on FAT; locks, as on NFS without a lock
//   daemon FIRN_TEST_SCARCE=thread:3    the third thread (memory: the third piece of 64 KiB or
//   more) FIRN_TEST_SCARCE=thread:3-   the third and all that follow FIRN_TEST_REFUSED=FILE is made
//   when something is refused
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

constexpr std::size_t kLarge = 64 << 10;

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

// Whether the thing that is asked for now is refused.
bool refused(const char* kind, std::atomic<long>& asked) {
  const char* const scarce = std::getenv("FIRN_TEST_SCARCE");
  const std::size_t length = std::strlen(kind);
  if (scarce == nullptr || std::strncmp(scarce, kind, length) != 0 || scarce[length] != ':')
    return false;
  char* end = nullptr;
  const long first = std::strtol(scarce + length + 1, &end, 10);
  const long number = ++asked;
  if (*end == '-' ? number < first : number != first) return false;
  if (const char* const file = std::getenv("FIRN_TEST_REFUSED"))
    ::close(::open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  return true;
}

bool lacks(const char* what) {
  const char* const lacking = std::getenv("FIRN_TEST_LACKING");
  return lacking != nullptr && std::strstr(lacking, what) != nullptr;
}

int fails_with(int error_number) {
  errno = error_number;
  return -1;
}

std::atomic<long> threads_asked = 0, pieces_asked = 0;

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) {
  static const auto real = next<decltype(&pthread_create)>("pthread_create");
  return refused("thread", threads_asked) ? EAGAIN : real(thread, attributes, run, argument);
}

extern "C" int symlinkat(const char* target, int folder, const char* path) noexcept {
  static const auto real = next<decltype(&symlinkat)>("symlinkat");
  return lacks("links") ? fails_with(EPERM) : real(target, folder, path);
}

extern "C" int flock(int file, int operation) noexcept {
  static const auto real = next<decltype(&flock)>("flock");
  return lacks("locks") ? fails_with(ENOLCK) : real(file, operation);
}

extern "C" void* mmap(void* address, std::size_t bytes, int protection, int flags, int file,
                      off_t offset) noexcept {
  static const auto real = next<decltype(&mmap)>("mmap");
  if ((flags & MAP_ANONYMOUS) != 0 && bytes >= kLarge && refused("memory", pieces_asked)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return real(address, bytes, protection, flags, file, offset);
}

void* operator new(std::size_t bytes) {
  static const auto real = next<void* (*)(std::size_t)>("_Znwm");
  if (bytes >= kLarge && refused("memory", pieces_asked)) throw std::bad_alloc();
  return real(bytes);
}
