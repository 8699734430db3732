// An origin's answer: what is read of it keeps its bounds, and an answer without a fault is for the
// bytes that were asked for. The first byte says which were.
#include "client/app/origin/origin_answer.h"

#include <string>
#include <string_view>

#include "proto/base/plain_text.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::origin_answer {
using namespace firn::app;

constexpr std::int64_t kNowS = 1'700'000'000;

FIRN_FUZZ_TARGET(origin_answer) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto answer = parse_answer(text, kNowS);
  if (!answer) return 0;
  FIRN_CHECK(answer->status >= 100 && answer->status <= 599);
  FIRN_CHECK(answer->retry_after_s.value_or(0) <= kRetryAfterMaxS);
  if (answer->range)
    FIRN_CHECK(answer->range->count > 0 &&
               answer->range->first <= UINT64_MAX - answer->range->count);
  // These go into headers of later requests, and into messages.
  for (const std::string& words : {answer->validator(), answer->encoding, answer->bucket_region})
    FIRN_CHECK(is_plain_text(words));

  TransferRequest request;
  request.url = *parse_origin("http://h/x");
  if (data[0] & 1) request.range = FileRange{data[0] & 2u, 5};
  if (data[0] & 4) request.size = 100;
  if (data[0] & 8) request.validator = "\"a\"";
  const TransferEnd end = check_answer(request, *answer, "http://h/x");
  FIRN_CHECK(end.status.ok() == (end.fault == Fault::kNone));
  if (!end.status) {
    FIRN_CHECK(is_plain_text(end.status.error().message()));
    return 0;
  }
  FIRN_CHECK(answer->encoding.empty());
  if (request.size && answer->size) FIRN_CHECK(*request.size == *answer->size);
  if (!request.range) {
    FIRN_CHECK(answer->status == 200);
  } else if (answer->status == 206) {
    FIRN_CHECK(answer->range == request.range);
  } else {
    FIRN_CHECK(request.range->first == 0 && answer->size == request.range->count);
  }
  return 0;
}

}  // namespace firn::fuzz::origin_answer
