#include "proto/program/process_words.h"

#include <doctest/doctest.h>

#include <string>

namespace firn {
namespace {

TEST_CASE("a program keeps the words that it was started with, and others see no secrets in them") {
  const std::string given[] = {"firn-tracker", "--redis", "redis://a@host",
                               "redis://user:word@host", "#token=abc"};
  std::string first = given[0], second = given[1], shortest = given[2], third = given[3],
              fourth = given[4];
  char* words[] = {first.data(), second.data(), shortest.data(), third.data(), fourth.data()};
  const char* const* const kept = take_process_words(5, words);
  for (int i = 0; i < 5; ++i) CHECK(kept[i] == given[i]);
  CHECK(kept[5] == nullptr);
  CHECK(words[0] == given[0]);
  CHECK(words[1] == given[1]);
  CHECK(words[2] == std::string("redis://.@host"));
  CHECK(words[3] == std::string("redis://...@host"));
  CHECK(words[4] == std::string("#token=..."));
  CHECK(third.find("word") == std::string::npos);  // nor behind the end
}

}  // namespace
}  // namespace firn
