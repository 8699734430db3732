// One transfer: its requests, one for each redirect that is followed, by one handle of libcurl.
// Part of transfers.cc, and like it the place for libcurl.
#pragma once

#include <curl/curl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/app/origin/transfers.h"

namespace firn::app {

struct CurlFree {
  void operator()(CURL* handle) const { ::curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { ::curl_slist_free_all(list); }
};
using CurlHandle = std::unique_ptr<CURL, CurlFree>;
using CurlList = std::unique_ptr<curl_slist, CurlFree>;

// The transfers' thread. Its address stays: libcurl has it.
class Transfer {
 public:
  // `options` outlive it.
  Transfer(std::uint64_t id, TransferRequest request, std::shared_ptr<TransferSink> sink,
           const TransfersOptions& options);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  std::uint64_t id() const { return id_; }
  CURL* handle() const { return handle_.get(); }  // its CURLINFO_PRIVATE is this object

  // Prepares the first request. An end: it cannot be made; else the handle is to be performed.
  std::optional<TransferEnd> prepare();
  // libcurl is through with the handle, which is in no multi handle now. An end, or nothing: the
  // handle is prepared for where the answer redirects, and to be performed again.
  std::optional<TransferEnd> performed(CURLcode result);
  // The sink's last call.
  void end(const TransferEnd& end) { sink_->ended(end); }
  void cancel();

 private:
  void set_up();
  void set_up_credentials(CurlList& headers);
  std::optional<TransferEnd> follow();
  bool judge_head();
  std::size_t take(std::span<const std::uint8_t> bytes);
  bool allows(const std::string& ip);
  TransferEnd fault(Fault fault, ErrorCode code, const std::string& why) const;
  TransferEnd more_than_asked() const;
  TransferEnd fault_of(CURLcode result) const;
  std::string where() const;

  template <typename Answer, typename Work>
  static Answer within_callback(void* self, Answer abort, Work work) noexcept;
  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count,
                               void* self) noexcept;
  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self) noexcept;
  static curl_socket_t on_socket(void* self, curlsocktype purpose, curl_sockaddr* address) noexcept;
  static int on_connected(void* self, char* ip, char* local_ip, int port, int local_port) noexcept;

  const std::uint64_t id_;
  const TransferRequest request_;
  const std::shared_ptr<TransferSink> sink_;
  const TransfersOptions& options_;
  CurlHandle handle_;
  CurlList headers_;
  std::array<char, CURL_ERROR_SIZE> curl_words_{};

  // Of all requests.
  OriginUrl url_;  // of the present one
  int redirects_ = 0;
  bool with_credentials_ = true;  // no redirect has left scheme, host and port
  // Address of the server that redirected to the present one; empty if a proxy hides it.
  std::string speaker_;

  // Of the present request.
  std::string proxy_;            // empty: none
  std::string address_;          // that it goes to
  std::string refused_address_;  // that it would have gone to
  std::string header_;
  std::optional<OriginAnswer> answer_;
  bool accepted_ = false;                  // the sink gets the body
  std::optional<std::uint64_t> expected_;  // bytes of the body, if known
  std::uint64_t received_ = 0;             // of it; what the sink took, if accepted
  std::string refusal_;                    // the beginning of the body, if not accepted
  bool no_memory_ = false;                 // for what a callback does
  std::optional<TransferEnd> verdict_;
};

}  // namespace firn::app
