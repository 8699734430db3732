// CRC-32C (Castagnoli, polynomial 0x1EDC6F41 reflected), as in RFC 3720, appendix B.4: guards
// journal records and spool slots against torn writes.
#pragma once

#include <cstdint>
#include <span>

namespace firn::store {

// The CRC of what `crc` covers followed by `data`; start with 0. Any thread.
std::uint32_t crc32c(std::uint32_t crc, std::span<const std::uint8_t> data);

// The specification: one table look-up per byte. crc32c uses the processor's instruction where it
// has one.
std::uint32_t crc32c_portable(std::uint32_t crc, std::span<const std::uint8_t> data);

}  // namespace firn::store
