#include "proto/program/process_words.h"

#include <cstring>
#include <string>
#include <vector>

#include "proto/content/content_secret.h"

namespace firn {

const char* const* take_process_words(int argc, char** argv) {
  static const std::vector<std::string> words(argv, argv + argc);
  static std::vector<const char*> pointers;
  for (int i = 0; i < argc; ++i) {
    const std::string& word = words[static_cast<std::size_t>(i)];
    pointers.push_back(word.c_str());
    std::strncpy(argv[i], without_secrets(word).c_str(), word.size());  // and zeros behind
  }
  pointers.push_back(nullptr);
  return pointers.data();
}

}  // namespace firn
