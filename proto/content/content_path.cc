#include <algorithm>
#include <array>

#include "proto/base/limits.h"
#include "proto/base/plain_text.h"
#include "proto/content/manifest.h"

namespace firn {
namespace {

std::string upper_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

// Names that Windows keeps for devices, whatever extension follows: "nul", "Com1.txt".
bool is_device_name(std::string_view component) {
  static constexpr std::array<std::string_view, 7> kDevices = {"CON",    "PRN",     "AUX",   "NUL",
                                                               "CONIN$", "CONOUT$", "CLOCK$"};
  std::string stem = upper_ascii(component.substr(0, component.find('.')));
  stem.erase(stem.find_last_not_of(' ') + 1);
  if (std::ranges::find(kDevices, stem) != kDevices.end()) return true;
  if (!stem.starts_with("COM") && !stem.starts_with("LPT")) return false;
  const std::string_view number = std::string_view(stem).substr(3);
  const bool digit = number.size() == 1 && number[0] >= '0' && number[0] <= '9';
  return digit || number == "\u00b9" || number == "\u00b2" || number == "\u00b3";
}

// What is wrong with one component; "" if nothing.
std::string_view component_fault(std::string_view component) {
  if (component.empty()) return "it has an empty component";
  if (component == "." || component == "..") return "it has a component '.' or '..'";
  if (component.size() > limits::kPathComponentBytesMax) return "a component is too long";
  if (component.back() == '.' || component.back() == ' ')
    return "a component ends with a dot or a space";
  if (component.find_first_of("\\:") != std::string_view::npos)
    return "it has a backslash or a colon";
  if (is_device_name(component)) return "a component is a reserved device name";
  return "";
}

}  // namespace

Status check_content_path(std::string_view path) {
  const auto refuse = [&](std::string_view why) {
    return Error{ErrorCode::kBadInput,
                 "use the path '" + to_plain_text(path, limits::kPathBytesMax) + "'",
                 std::string(why)};
  };
  if (path.empty()) return refuse("it is empty");
  if (path.size() > limits::kPathBytesMax) return refuse("it is too long");
  if (!is_plain_text(path)) return refuse("it is not UTF-8 or has control characters");
  if (path.front() == '/') return refuse("it is absolute");
  if (std::ranges::count(path, '/') >= std::ptrdiff_t{limits::kPathComponentsMax})
    return refuse("it has more than " + std::to_string(limits::kPathComponentsMax) + " components");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view component = path.substr(begin, end - begin);
    if (const auto fault = component_fault(component); !fault.empty()) return refuse(fault);
    if (begin == 0 && upper_ascii(component) == ".FIRN")
      return refuse("'.firn' is where unfinished content is kept");
    begin = end + 1;
  }
  return Done{};
}

Status check_link_target(std::string_view path, std::string_view target) {
  const auto refuse = [&](std::string_view why) {
    return Error{ErrorCode::kBadInput,
                 "link to '" + to_plain_text(target, limits::kPathBytesMax) + "'",
                 std::string(why)};
  };
  if (target.empty()) return refuse("it is empty");
  if (target.size() > limits::kPathBytesMax) return refuse("it is too long");
  if (!is_plain_text(target)) return refuse("it is not UTF-8 or has control characters");
  if (target.front() == '/') return refuse("it is absolute");
  // Folders between the content's folder and the link. ".." that comes after a name could leave
  // through another link, so it may only come first.
  auto above = std::ranges::count(path, '/');
  bool named = false;
  for (std::size_t begin = 0; begin <= target.size();) {
    const std::size_t end = std::min(target.find('/', begin), target.size());
    const std::string_view component = target.substr(begin, end - begin);
    if (component == "..") {
      if (named) return refuse("'..' comes after a name");
      if (above-- == 0) return refuse("it points out of the content");
    } else if (const auto fault = component_fault(component); !fault.empty()) {
      return refuse(fault);
    } else {
      named = true;
    }
    begin = end + 1;
  }
  return Done{};
}

}  // namespace firn
