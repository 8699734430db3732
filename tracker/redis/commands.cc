#include "tracker/redis/commands.h"

#include <algorithm>

namespace firn::tracker {
namespace {

constexpr std::size_t kIdTextBytes = 52;
constexpr std::string_view kSeenEnd = "}:seen";

}  // namespace

std::string Keys::of(const ContentId& content, std::string_view what) const {
  std::string key = prefix_ + '{' + content.text() + "}:";
  key += what;
  return key;
}

std::string Keys::seen_pattern() const {
  return prefix_ + '{' + std::string(kIdTextBytes, '?') + std::string(kSeenEnd);
}

std::optional<ContentId> Keys::content_of(std::string_view seen_key) const {
  const std::size_t start = prefix_.size() + 1;
  if (seen_key.size() != start + kIdTextBytes + kSeenEnd.size()) return std::nullopt;
  const auto content = ContentId::from_text(seen_key.substr(start, kIdTextBytes));
  // An id may be written with capitals, which would be another key.
  if (!content || seen(*content) != seen_key) return std::nullopt;
  return content;
}

bool is_key_prefix(std::string_view text) {
  constexpr std::size_t kBytesMax = 64;
  return text.size() <= kBytesMax && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == ':' || c == '.' || c == '_' || c == '-';
         });
}

namespace scripts {

// A time that lies ahead of the server's is no announce's: its clock was set back, or another
// program wrote it. What a tracker says again, of an announce that is known, is no news: it may be
// off by the time that it took on the way.
const char* const kPut = R"(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local before = now - ARGV[1]
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.0f', before),
                       'LIMIT', 0, 1000)
for _, id in ipairs(old) do
  redis.call('ZREM', KEYS[1], id)
  redis.call('HDEL', KEYS[2], id)
end
local taken = {}
for i = 2, #ARGV, 3 do
  local id, at, record = ARGV[i], now - ARGV[i + 1], ARGV[i + 2]
  local known = tonumber(redis.call('ZSCORE', KEYS[1], id) or '-1')
  local later = known < 0 or known > now or at > known
  if later and known <= now and at < known + 1000 then
    later = (redis.call('HGET', KEYS[2], id) or '') ~= record
  end
  if later and at >= before then
    redis.call('ZADD', KEYS[1], string.format('%.0f', at), id)
    if record == '' then
      redis.call('HDEL', KEYS[2], id)
    else
      redis.call('HSET', KEYS[2], id, record)
    end
    taken[#taken + 1] = (i + 1) / 3
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
return taken
)";

const char* const kRead = R"(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('ZREVRANGEBYSCORE', KEYS[1], string.format('%.0f', now),
                         string.format('%.0f', now - ARGV[1]), 'WITHSCORES', 'LIMIT', ARGV[2],
                         ARGV[3])
local out = {redis.call('EXISTS', KEYS[3]), #found / 2}
for i = 1, #found, 2 do
  local id = found[i]
  if #id == 32 and redis.call('HSTRLEN', KEYS[2], id) <= 19 then
    out[#out + 1] = id
    out[#out + 1] = now - tonumber(found[i + 1])
    out[#out + 1] = redis.call('HGET', KEYS[2], id) or ''
  end
end
return out
)";

const char* const kChanges = R"(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', ARGV[2])
local before = redis.call('XRANGE', KEYS[1], '-', ARGV[1], 'COUNT', 1)
local out = {#before, ARGV[1], #found, 0}
for _, entry in ipairs(found) do
  out[2] = entry[1]
  local words = entry[2]
  if #words == 6 and words[1] == 'from' and words[3] == 'peers' and words[5] == 'offers' and
      #words[4] <= 131072 and #words[6] <= 131072 then
    if words[2] ~= ARGV[3] then
      local at = tonumber(string.match(entry[1], '^%d+'))
      out[#out + 1] = math.max(0, now - at)
      out[#out + 1] = words[4]
      out[#out + 1] = words[6]
    end
  else
    out[4] = out[4] + 1
  end
end
return out
)";

const char* const kField = R"(
if redis.call('HSTRLEN', KEYS[1], ARGV[1]) > tonumber(ARGV[2]) then return false end
return redis.call('HGET', KEYS[1], ARGV[1])
)";

}  // namespace scripts

}  // namespace firn::tracker
