#include "client/app/origin/origin_answer.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <map>
#include <utility>

#include "proto/base/plain_text.h"

namespace firn::app {
namespace {

constexpr std::size_t kEtagBytesMax = 512;
constexpr std::string_view kWeak = "W/";
constexpr std::size_t kReasonCodeMax = 64, kReasonWordsMax = 200;

std::string_view unpadded(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// 1*DIGIT that 64 bits hold.
std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [read, fault] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || fault != std::errc() || read != end) return std::nullopt;
  return value;
}

// Seconds since 1970 of an IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, section 5.6.7).
std::optional<std::int64_t> seconds_of(std::string_view date) {
  static constexpr std::string_view kForm = "Www, DD Mmm YYYY hh:mm:ss GMT";
  static constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
  static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (date.size() != kForm.size() || !date.ends_with(" GMT")) return std::nullopt;
  for (const char mark : {',', ' ', ':'})
    for (std::size_t i = 0; i < kForm.size(); ++i)
      if (kForm[i] == mark && date[i] != mark) return std::nullopt;
  const auto field = [&](std::size_t at, std::size_t digits) {
    return number_of(date.substr(at, digits));
  };
  const auto day = field(5, 2), year = field(12, 4), hour = field(17, 2), minute = field(20, 2),
             second = field(23, 2);
  const std::size_t weekday = kDays.find(date.substr(0, 3)),
                    month = kMonths.find(date.substr(8, 3));
  if (!day || !year || !hour || !minute || !second || weekday == std::string_view::npos ||
      weekday % 3 != 0 || month == std::string_view::npos || month % 3 != 0 || *day < 1 ||
      *day > 31 || *year < 1970 || *hour > 23 || *minute > 59 || *second > 60)
    return std::nullopt;
  std::tm time{};
  time.tm_year = static_cast<int>(*year) - 1900;
  time.tm_mon = static_cast<int>(month / 3);
  time.tm_mday = static_cast<int>(*day);
  time.tm_hour = static_cast<int>(*hour);
  time.tm_min = static_cast<int>(*minute);
  time.tm_sec = static_cast<int>(*second);
  return ::timegm(&time);
}

// Printable ASCII in quotes, weak or not: else empty.
std::string etag_of(std::string_view text) {
  const std::string_view quoted = text.substr(text.starts_with(kWeak) ? kWeak.size() : 0);
  const bool is_etag = text.size() <= kEtagBytesMax && quoted.size() >= 2 &&
                       quoted.front() == '"' && quoted.find('"', 1) == quoted.size() - 1 &&
                       std::ranges::all_of(quoted, [](char c) { return c > ' ' && c < 0x7f; });
  return is_etag ? std::string(text) : "";
}

std::string_view without_weak(std::string_view etag) {
  return etag.substr(etag.starts_with(kWeak) ? kWeak.size() : 0);
}

struct ContentRange {
  std::optional<FileRange> range;
  std::optional<std::uint64_t> size;
};

// "bytes 0-99/200", "bytes 0-99/*", "bytes */200" (RFC 9110, section 14.4).
std::optional<ContentRange> content_range_of(std::string_view text) {
  static constexpr std::string_view kUnit = "bytes ";
  if (lower_case(text.substr(0, kUnit.size())) != kUnit) return std::nullopt;
  text = unpadded(text.substr(kUnit.size()));
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view span = text.substr(0, slash), total = text.substr(slash + 1);
  ContentRange said;
  if (total != "*" && !(said.size = number_of(total))) return std::nullopt;
  if (span == "*") return said.size ? std::optional(said) : std::nullopt;
  const std::size_t dash = span.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = number_of(span.substr(0, dash)), last = number_of(span.substr(dash + 1));
  // The number of bytes, last - first + 1, fits 64 bits.
  if (!first || !last || *last < *first || *last == UINT64_MAX ||
      (said.size && *last >= *said.size))
    return std::nullopt;
  said.range = FileRange{*first, *last - *first + 1};
  return said;
}

std::optional<std::uint32_t> retry_after_of(std::string_view text, std::int64_t now_s) {
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos)
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(number_of(text).value_or(UINT64_MAX), kRetryAfterMaxS));
  const auto date = seconds_of(text);
  if (!date) return std::nullopt;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(*date - now_s, 0, kRetryAfterMaxS));
}

// "HTTP/1.1 206 Partial Content", "HTTP/2 206".
std::optional<int> status_of(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (!line.starts_with("HTTP/") || space == std::string_view::npos) return std::nullopt;
  const std::string_view digits = line.substr(space + 1, 3), rest = line.substr(space + 1);
  const auto status = number_of(digits);
  if (!status || *status < 100 || *status > 599 || (rest.size() > 3 && rest[3] != ' '))
    return std::nullopt;
  return static_cast<int>(*status);
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

using Fields = std::map<std::string, std::string, std::less<>>;

// The fields that parse_answer() knows, by their names in small letters.
Result<Fields> fields_of(std::string_view header) {
  Fields fields = {{"content-length", ""},    {"content-range", ""},      {"etag", ""},
                   {"last-modified", ""},     {"content-encoding", ""},   {"retry-after", ""},
                   {"transfer-encoding", ""}, {"x-amz-bucket-region", ""}};
  while (!header.empty()) {
    const std::string_view line = next_line(header);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto field = fields.find(lower_case(line.substr(0, colon)));
    const std::string_view value = unpadded(line.substr(colon + 1));
    if (field == fields.end() || value.empty() || field->second == value) continue;
    if (field->second.empty())
      field->second = value;
    else if (field->first.ends_with("-encoding"))
      field->second += ", " + std::string(value);  // a list
    else
      return Error{ErrorCode::kProtocol, "read the answer",
                   "it has two different headers " + field->first};
  }
  return fields;
}

Error malformed(const std::string& field) {
  return {ErrorCode::kProtocol, "read the answer", "its header " + field + " is malformed"};
}

// What stands between <NAME> and </NAME>.
std::string_view element_of(std::string_view xml, const std::string& name) {
  const std::string open = "<" + name + ">";
  const std::size_t first = xml.find(open);
  if (first == std::string_view::npos) return {};
  xml.remove_prefix(first + open.size());
  const std::size_t end = xml.find("</" + name + ">");
  return end == std::string_view::npos ? std::string_view() : xml.substr(0, end);
}

// The judgement on what a request asked for, in words.
class Judge {
 public:
  Judge(const OriginAnswer& answer, const std::string& where) : answer_(answer), where_(where) {}

  TransferEnd fault(Fault fault, ErrorCode code, const std::string& why) const {
    TransferEnd end;
    end.fault = fault;
    end.status = Error{code, "fetch " + where_, why};
    if (fault == Fault::kPassing) end.retry_after_s = answer_.retry_after_s;
    return end;
  }
  TransferEnd no_ranges(const std::string& why) const {
    return fault(Fault::kNoRanges, ErrorCode::kProtocol,
                 why + "; an origin must serve byte ranges, as nginx, Apache and S3 do");
  }
  TransferEnd changed(const std::string& why) const {
    return fault(Fault::kChanged, ErrorCode::kCorrupt,
                 why + "; the origin must have the very file that the content was made of");
  }
  // Of an answer that is none of 200 and 206.
  TransferEnd refused(const TransferRequest& request) const;

 private:
  const OriginAnswer& answer_;
  const std::string& where_;
};

TransferEnd Judge::refused(const TransferRequest& request) const {
  const int status = answer_.status;
  const std::string said = "the server answers " + std::to_string(status) +
                           (answer_.reason.empty() ? "" : " (" + answer_.reason + ")");
  if (status == 404 && answer_.reason.starts_with("NoSuchBucket"))
    return fault(Fault::kGone, ErrorCode::kNotFound,
                 said + ": it has no such bucket; check the URL and --endpoint");
  if (status == 404 || status == 410)
    return fault(Fault::kGone, ErrorCode::kNotFound, said + ": it has no such file; check the URL");
  if (status == 412) return changed(said + ": the file has changed since the last answer");
  if (status == 416) {
    if (request.size && answer_.size && *request.size != *answer_.size)
      return changed(said + ": the file has " + std::to_string(*answer_.size) + " bytes, not " +
                     std::to_string(*request.size));
    return no_ranges(said + " to a request for bytes of the file");
  }
  if (status == 408 || status == 425 || status == 429 || status >= 500)
    return fault(Fault::kPassing, ErrorCode::kUnreachable,
                 said + ": it is overloaded or broken; try again later" +
                     (answer_.retry_after_s
                          ? " (in " + std::to_string(*answer_.retry_after_s) + " s, it says)"
                          : ""));
  if (status >= 400)
    return fault(Fault::kForbidden, ErrorCode::kBadInput,
                 said +
                     ": it refuses the request; credentials are missing or wrong, or the "
                     "signature in the URL has expired");
  if (!answer_.bucket_region.empty())
    return fault(Fault::kNotAllowed, ErrorCode::kBadInput,
                 said + ": the bucket is in another region; add --region " + answer_.bucket_region);
  if (status >= 300)
    return fault(Fault::kNotAllowed, ErrorCode::kProtocol,
                 said + ": a redirect that names no other URL; check the URL");
  return no_ranges(said + ", which brings no bytes of the file");
}

}  // namespace

std::string OriginAnswer::validator() const {
  return !etag.empty() && !etag.starts_with(kWeak) ? etag : last_modified;
}

std::optional<std::int64_t> seconds_of_date(std::string_view date) {
  const auto seconds = seconds_of(date);
  return seconds && *seconds <= INT64_MAX / 1'000'000'000 ? seconds : std::nullopt;
}

Result<OriginAnswer> parse_answer(std::string_view header, std::int64_t now_s) {
  if (header.size() > kAnswerHeaderBytesMax)
    return Error{ErrorCode::kProtocol, "read the answer",
                 "its header has more than " + std::to_string(kAnswerHeaderBytesMax) + " bytes"};
  const auto status = status_of(unpadded(next_line(header)));
  if (!status) return Error{ErrorCode::kProtocol, "read the answer", "it is not HTTP"};
  auto read = fields_of(header);
  if (!read) return read.error();
  Fields& fields = *read;

  OriginAnswer answer;
  answer.status = *status;
  if (const std::string& length = fields["content-length"]; !length.empty()) {
    answer.body_bytes = number_of(length);
    if (!answer.body_bytes) return malformed("Content-Length");
  }
  if (!fields["transfer-encoding"].empty()) answer.body_bytes.reset();  // RFC 9112, section 6.3
  if (*status == 200) answer.size = answer.body_bytes;
  const std::string& range = fields["content-range"];
  if (!range.empty() && (*status == 206 || *status == 416)) {
    const auto said = content_range_of(range);
    if (!said || (*status == 206) != said->range.has_value()) return malformed("Content-Range");
    answer.range = said->range;
    answer.size = said->size;
  }
  answer.etag = etag_of(fields["etag"]);
  if (seconds_of_date(fields["last-modified"])) answer.last_modified = fields["last-modified"];
  answer.encoding = lower_case(to_plain_text(fields["content-encoding"], 64));
  if (answer.encoding == "identity") answer.encoding.clear();
  answer.retry_after_s = retry_after_of(fields["retry-after"], now_s);
  const std::string region = lower_case(fields["x-amz-bucket-region"]);
  if (region.size() <= 64 &&
      region.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos)
    answer.bucket_region = region;
  return answer;
}

std::string reason_of_body(std::string_view body) {
  if (body.find("<Error>") == std::string_view::npos && !body.starts_with("<Error ")) return "";
  const std::string code = to_plain_text(element_of(body, "Code"), kReasonCodeMax);
  const std::string words = to_plain_text(element_of(body, "Message"), kReasonWordsMax);
  return code.empty() || words.empty() ? code + words : code + ": " + words;
}

std::string folder_advice(const OriginUrl& folder) {
  return "it is the URL of a folder, and a web server does not list its files; give the URL of one "
         "file. The files of a folder come with a manifest: make it where they are (firn create "
         "FOLDER -o X.firn --origin " +
         folder.shown() + "), then firn get X.firn";
}

TransferEnd check_answer(const TransferRequest& request, const OriginAnswer& answer,
                         const std::string& where) {
  const Judge judge(answer, where);
  if (answer.status != 200 && answer.status != 206) return judge.refused(request);
  if (!answer.encoding.empty())
    return judge.fault(Fault::kEncoded, ErrorCode::kProtocol,
                       "the server sends the file compressed (" + answer.encoding +
                           ") though asked not to; switch that off for this file there");

  const bool by_etag = request.validator.starts_with('"');
  const std::string_view now =
      by_etag ? without_weak(answer.etag) : std::string_view(answer.last_modified);
  if (!request.validator.empty() && !now.empty() && now != request.validator)
    return judge.changed(std::string("the file there has changed: its ") +
                         (by_etag ? "ETag" : "date") + " is another one than before");
  if (request.size && answer.size && *request.size != *answer.size)
    return judge.changed("the file there has " + std::to_string(*answer.size) + " bytes, not " +
                         std::to_string(*request.size));

  if (!request.range) {
    if (answer.status == 200) return {};
    return judge.no_ranges("the server answers with a part (206) where the whole was asked for");
  }
  const FileRange& asked = *request.range;
  if (answer.status == 200) {
    if (asked.first == 0 && answer.size == asked.count) return {};
    // RFC 9110, section 13.1.5: If-Range makes a 200 of a file that has changed.
    if (!request.validator.empty() && now.empty())
      return judge.changed(
          "the file there has changed: it is sent whole where a part was asked for");
    return judge.no_ranges("the server sends the whole file where a part was asked for");
  }
  if (!answer.range) return judge.no_ranges("the server does not say which bytes it sends");
  if (*answer.range != asked)
    return judge.no_ranges("the server sends the " + std::to_string(answer.range->count) +
                           " bytes from " + std::to_string(answer.range->first) + " on where the " +
                           std::to_string(asked.count) + " from " + std::to_string(asked.first) +
                           " on were asked for");
  if (answer.body_bytes && *answer.body_bytes != asked.count)
    return judge.no_ranges("the server announces " + std::to_string(*answer.body_bytes) +
                           " bytes where " + std::to_string(asked.count) + " were asked for");
  return {};
}

}  // namespace firn::app
