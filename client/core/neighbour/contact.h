// How a neighbour is connected, and what its Hello told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "client/core/base/types.h"
#include "proto/base/address.h"
#include "proto/messages.h"

namespace firn::core {

class Contact {
 public:
  // `outgoing`: this peer opened the connection.
  Contact(std::string ip, std::uint16_t port, bool outgoing, TimeUs now)
      : ip_(std::move(ip)), port_(port), outgoing_(outgoing), opened_at_(now) {}

  const std::string& ip() const { return ip_; }
  std::uint16_t port() const { return port_; }
  bool outgoing() const { return outgoing_; }
  TimeUs opened_at() const { return opened_at_; }
  // ip:port as connected.
  std::string endpoint() const { return to_text(Address{std::nullopt, ip_, port_}); }

  void greet(const proto::Hello& hello) {
    greeted_ = true;
    has_manifest_ = hello.has_manifest;
    listen_port_ = hello.listen_port;
    certificate_ = hello.certificate;
    agent_ = hello.agent;
  }
  // Its Hello has come.
  bool greeted() const { return greeted_; }
  // Where it accepts connections; 0: nowhere.
  std::uint16_t listen_port() const { return listen_port_; }
  // As its Hello showed it; not checked.
  const std::string& certificate() const { return certificate_; }
  // The program that it says it is.
  const std::string& agent() const { return agent_; }
  // It has proven that it speaks for the content's authority.
  bool authority() const { return authority_; }
  void proves_authority() { authority_ = true; }
  bool has_manifest() const { return has_manifest_; }
  void gains_manifest() { has_manifest_ = true; }

 private:
  const std::string ip_;
  const std::uint16_t port_;
  const bool outgoing_;
  bool greeted_ = false;
  bool has_manifest_ = false;
  bool authority_ = false;
  std::string certificate_;
  std::string agent_;
  std::uint16_t listen_port_ = 0;
  const TimeUs opened_at_;
};

}  // namespace firn::core
