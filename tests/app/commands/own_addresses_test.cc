#include <doctest/doctest.h>

#include "client/app/commands/options/own_addresses.h"

namespace firn::app {
namespace {

const std::vector<InterfaceAddress> kMachine = {
    {"127.0.0.1", true, false}, {"192.0.2.7", false, false},   {"169.254.3.4", false, true},
    {"::1", true, false},       {"2001:db8::7", false, false}, {"fe80::1", false, true}};

std::string texts(const std::string& listen_host, const std::string& bound_host,
                  const std::vector<InterfaceAddress>& machine) {
  std::string all;
  for (const Address& address : reachable_addresses(listen_host, {{}, bound_host, 80}, machine))
    all += to_text(address) + " ";
  return all;
}

TEST_CASE("a listener at every address is reached at each that others can use") {
  CHECK(texts("*", "::", kMachine) == "192.0.2.7:80 [2001:db8::7]:80 ");
  CHECK(texts("", "::", kMachine) == "192.0.2.7:80 [2001:db8::7]:80 ");
  CHECK(texts("::", "::", kMachine) == "192.0.2.7:80 [2001:db8::7]:80 ");
}

TEST_CASE("without IPv6 there are IPv4 addresses alone") {
  CHECK(texts("0.0.0.0", "0.0.0.0", kMachine) == "192.0.2.7:80 ");
  CHECK(texts("*", "0.0.0.0", kMachine) == "192.0.2.7:80 ");
}

TEST_CASE("loopback counts where there is nothing else") {
  const std::vector<InterfaceAddress> alone = {
      {"127.0.0.1", true, false}, {"::1", true, false}, {"fe80::1", false, true}};
  CHECK(texts("*", "::", alone) == "127.0.0.1:80 [::1]:80 ");
  CHECK(texts("0.0.0.0", "0.0.0.0", alone) == "127.0.0.1:80 ");
}

TEST_CASE("an address that was given is the only one") {
  CHECK(texts("127.0.0.1", "127.0.0.1", kMachine) == "127.0.0.1:80 ");
  CHECK(texts("seed.example", "192.0.2.7", kMachine) == "seed.example:80 ");
}

TEST_CASE("addresses carry the listener's id, each once, and no more than a link takes") {
  Address bound{PeerId{}, "::", 80};
  std::vector<InterfaceAddress> many;
  for (int i = 0; i < 300; ++i)
    many.push_back({"198.51.100." + std::to_string(i % 100), false, false});
  const auto addresses = reachable_addresses("*", bound, many);
  CHECK(addresses.size() == 64);
  for (const Address& address : addresses) CHECK(address.id == bound.id);
  many.resize(150);
  many.erase(many.begin(), many.begin() + 100);
  many.push_back(many.front());
  CHECK(reachable_addresses("*", bound, many).size() == 50);
}

TEST_CASE("a warning says who can use a link, unless an address of it is reached from everywhere") {
  const auto warning = [](std::vector<const char*> trackers, std::vector<const char*> peers) {
    const auto all = [](const std::vector<const char*>& texts) {
      std::vector<Address> addresses;
      for (const char* text : texts) addresses.push_back(parse_address(text).value());
      return addresses;
    };
    return reach_warning(all(trackers), all(peers));
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(warning({"tracker.example:1"}, {"127.0.0.1:2"}) == "");
  CHECK(warning({"localhost:1"}, {"10.0.0.7:2", "192.0.2.7:2"}) == "");
  CHECK(warning({}, {"[2001:db8::7]:2"}) == "");
  for (const char* tracker : {"localhost:1", "127.0.0.1:1", "[::1]:1"})
    CHECK(has(warning({tracker}, {"127.0.0.1:2", "[::1]:2"}), "no other machine"));
  CHECK(has(warning({}, {"127.0.0.1:2"}), "no tracker: the link names only"));
  CHECK(has(warning({"localhost:1"}, {"127.0.0.1:2", "10.0.0.7:2"}), "private networks"));
  CHECK(has(warning({"192.168.1.2:1"}, {"127.0.0.1:2"}), "private networks"));
}

TEST_CASE("this machine has addresses") {
  CHECK_FALSE(interface_addresses().empty());
}

}  // namespace
}  // namespace firn::app
