#include "client/app/push/ssh_line.h"

#include <fmt/format.h>

#include <utility>

namespace firn::app {
namespace {

constexpr std::string_view kWhite = " \t\r\n";

// ssh takes an IPv6 address without the brackets that set a folder apart.
std::string as_ssh_names(std::string_view host) {
  const std::size_t name = host.rfind('@') + 1;  // npos + 1 is 0
  if (!host.substr(name).starts_with('[')) return std::string(host);
  const std::string_view address = host.substr(name + 1, host.size() - name - 2);
  return fmt::format("{}{}", host.substr(0, name), address);
}

}  // namespace

std::vector<std::string> ssh_arguments(const SshOptions& options, const PushHost& host, bool alone,
                                       std::string_view constant) {
  std::vector<std::string> line = options.words;
  const auto add_option = [&](std::string setting) {
    line.push_back("-o");
    line.push_back(std::move(setting));
  };
  line.push_back("-T");
  // As scp: what the user's configuration forwards or runs in a login is not for this one.
  line.push_back("-x");
  add_option("ClearAllForwardings=yes");
  add_option("ForwardAgent=no");
  add_option("PermitLocalCommand=no");
  add_option("RemoteCommand=none");
  add_option("ServerAliveInterval=5");
  add_option("ServerAliveCountMax=3");
  add_option(fmt::format("ConnectTimeout={}", options.connect_timeout_s));
  if (!alone) add_option("BatchMode=yes");
  if (!options.jump.empty()) line.insert(line.end(), {"-J", options.jump});
  // ssh would prefer -l to the user in the host's name.
  if (!options.user.empty() && host.host.find('@') == std::string::npos)
    line.insert(line.end(), {"-l", options.user});
  line.insert(line.end(), {"--", as_ssh_names(host.host), std::string(constant)});
  return line;
}

Result<std::vector<std::string>> split_words(std::string_view text) {
  const auto bad = [&](const char* detail) {
    return Error{ErrorCode::kBadInput, fmt::format("command '{}'", text), detail};
  };
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;  // the open one
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char here = text[at];
    if (here == '\\' && quote != '\'') {
      if (++at == text.size()) return bad("nothing follows the backslash at its end");
      const bool escapes =
          quote == 0 || std::string_view("\"\\$`").find(text[at]) != std::string_view::npos;
      if (!escapes) word += '\\';
      word += text[at];
      in_word = true;
    } else if (quote != 0) {
      here == quote ? void(quote = 0) : word.push_back(here);
    } else if (here == '\'' || here == '"') {
      quote = here;
      in_word = true;
    } else if (kWhite.find(here) == std::string_view::npos) {
      word += here;
      in_word = true;
    } else if (in_word) {
      words.push_back(std::exchange(word, {}));
      in_word = false;
    }
  }
  if (quote != 0) return bad("a quote has no end");
  if (in_word) words.push_back(word);
  if (words.empty()) return bad("it names no program");
  return words;
}

}  // namespace firn::app
