// Makes a thread, if the system gives one: for helpers whose work their caller can do as well.
#pragma once

#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace firn::codec {

// nullopt: the system has none left, and `work` was not begun.
template <typename Work>
std::optional<std::thread> try_thread(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace firn::codec
