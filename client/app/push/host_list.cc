#include "client/app/push/host_list.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <utility>

#include "client/app/push/node_set.h"
#include "proto/base/plain_text.h"
#include "proto/program/input_file.h"

namespace firn::app {
namespace {

constexpr std::size_t kHostsFileBytesMax = 16u << 20;
constexpr std::size_t kDoublesNamedMax = 3;  // hosts that a notice names

Error bad_host(std::string_view host, const std::string& detail) {
  return {ErrorCode::kBadInput, fmt::format("host '{}'", escaped(host)), detail};
}

// Without user@, which ends at the last '@', as ssh has it.
std::string_view without_user(std::string_view host) {
  return host.substr(host.rfind('@') + 1);  // npos + 1 is 0
}

bool is_ipv6(std::string_view text) {
  in6_addr address{};
  const std::string number(text.substr(0, text.find('%')));
  return inet_pton(AF_INET6, number.c_str(), &address) == 1;
}

bool is_bracketed(std::string_view name) {
  return name.starts_with('[') && name.find(':') < name.find(']');
}

// "2001:db8::1" or "2001:db8::1:/data": where the address ends nobody can tell.
bool is_bare_ipv6(std::string_view text) {
  std::string_view name = without_user(text.substr(0, text.find('/')));
  if (is_ipv6(name)) return true;
  return name.ends_with(':') && !name.ends_with("::") && is_ipv6(name.substr(0, name.size() - 1));
}

// ssh puts the name into commands (ProxyCommand's %h), so what a shell reads is refused.
Status check_host(std::string_view host) {
  constexpr std::string_view kShells = "'`\"$\\;&<>|(){}*?!#,";
  const std::string_view name = without_user(host);
  const std::string_view user = host.substr(0, host.size() - name.size());
  if (host.find_first_of(" \t") != std::string_view::npos)
    return bad_host(host, "it holds a space; name one host, as USER@HOST if it needs a user");
  if (host.starts_with('-') || name.starts_with('-'))
    return bad_host(host, "it begins with '-', as an option of ssh does");
  if (name.empty()) return bad_host(host, "there is no name");
  if (user == "@") return bad_host(host, "there is no user before '@'");
  if (const std::size_t at = host.find_first_of(kShells); at != std::string_view::npos)
    return bad_host(host, fmt::format("'{}' cannot be part of a name", host[at]));
  if (host.find('/') != std::string_view::npos)
    return bad_host(host, "'/' cannot be part of a name; write HOST:DIR for a folder there");
  return Done{};
}

// One text of the grammar HOSTS[:DIR], added to `hosts`.
Status add_hosts(std::string_view text, const std::string& default_dir,
                 std::vector<PushHost>& hosts) {
  if (text.find("://") < text.find('/'))
    return bad_host(text, "write HOST[:DIR]; another port: --ssh 'ssh -p 2222'");
  if (is_bare_ipv6(text)) return bad_host(text, "put an IPv6 address in brackets: [2001:db8::1]");
  const std::size_t colon = outside_brackets(text, ':');
  const std::string_view names = text.substr(0, colon);
  std::string dir = default_dir;
  if (colon != std::string_view::npos && colon + 1 < text.size()) dir = text.substr(colon + 1);
  if (escaped(names) != names) return bad_host(names, "it holds characters that do not show");
  if (!is_plain_text(dir))
    return bad_host(text, "its folder holds control characters, or is not UTF-8");

  if (is_bracketed(without_user(names))) {
    const std::string_view address = without_user(names);
    if (!address.ends_with(']') || !is_ipv6(address.substr(1, address.size() - 2)))
      return bad_host(text, "what is in brackets is no IPv6 address");
    if (const Status checked = check_host(names); !checked.ok()) return checked;
    hosts.push_back({std::string(names), dir});
    return Done{};
  }
  auto members = node_set(names, kPushHostsMax);
  if (!members.ok()) return members.error();
  if (members->size() > kPushHostsMax - hosts.size())
    return bad_host(text, fmt::format("more than {} hosts", kPushHostsMax));
  for (std::string& host : *members) {
    if (const Status checked = check_host(host); !checked.ok()) return checked;
    hosts.push_back({std::move(host), dir});
  }
  return Done{};
}

bool names_file(const std::string& text) {
  const std::string_view before_dir = std::string_view(text).substr(0, outside_brackets(text, ':'));
  if (outside_brackets(before_dir, '/') != std::string_view::npos) return true;
  std::error_code error;
  const auto status = std::filesystem::status(text, error);
  return std::filesystem::exists(status) && !std::filesystem::is_directory(status);
}

// Leaves each host and folder once, and says which were there again.
std::vector<std::string> drop_doubles(std::vector<PushHost>& hosts) {
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> again;
  std::erase_if(hosts, [&](const PushHost& host) {
    if (seen.emplace(host.host, host.dir).second) return false;
    again.insert(host_text(host.host, host.dir));
    return true;
  });
  if (again.empty()) return {};
  std::string names;
  std::size_t named = 0;
  for (const std::string& name : again) {
    if (named == kDoublesNamedMax) break;
    names += (named++ == 0 ? "" : ", ") + name;
  }
  if (again.size() > kDoublesNamedMax)
    names += fmt::format(" and {} more", again.size() - kDoublesNamedMax);
  return {"hosts given more than once get it once: " + names};
}

}  // namespace

Result<HostList> parse_hosts(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& host_options,
                             const std::string& default_dir) {
  HostList list;
  std::vector<std::string> texts = arguments;
  for (const std::string& option : host_options) {
    if (!names_file(option)) {
      texts.push_back(option);
      continue;
    }
    auto lines = read_input_lines(option, kHostsFileBytesMax);
    if (!lines.ok()) return lines.error();
    for (std::string& line : *lines) texts.push_back(std::move(line));
  }
  for (const std::string& text : texts)
    if (const Status added = add_hosts(text, default_dir, list.hosts); !added.ok())
      return added.error();
  if (list.hosts.empty())
    return Error{ErrorCode::kBadInput, "no host", "name at least one, or a file of them (--hosts)"};
  list.notices = drop_doubles(list.hosts);
  return list;
}

std::string host_text(std::string_view host, std::string_view dir) {
  return dir.empty() ? std::string(host) : fmt::format("{}:{}", host, dir);
}

}  // namespace firn::app
