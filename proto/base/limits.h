// Every length and count that the network may name has a bound here, checked before memory is
// taken. docs/protocol.md repeats them; they are part of the protocol.
#pragma once

#include <cstddef>
#include <cstdint>

namespace firn::limits {

inline constexpr std::size_t kGenerationSizeMax = 4096;       // n, blocks
inline constexpr std::size_t kBlockBytesMax = 1 << 20;        // k
inline constexpr std::size_t kGenerationBytesMax = 64 << 20;  // n k
inline constexpr std::size_t kGenerationCountMax = 1 << 20;   // generations in a content
inline constexpr std::size_t kFrameBytesMax = (1 << 20) + (64 << 10);
inline constexpr std::size_t kManifestBytesMax = 256 << 20;
inline constexpr std::size_t kEnvelopeFieldsMax = 1024;       // of a manifest, unknown ones too
inline constexpr std::size_t kEnvelopeBytesMax = 256 << 10;   // of a manifest, without its info
inline constexpr std::size_t kManifestPartBytes = 256 << 10;  // asked for at a time
inline constexpr std::size_t kFileCountMax = 1 << 20;
inline constexpr std::size_t kFolderCountMax = 1 << 20;  // that paths go through
inline constexpr std::size_t kPathBytesMax = 4096;
inline constexpr std::size_t kPathComponentsMax = 128;
inline constexpr std::size_t kPathComponentBytesMax = 255;
inline constexpr std::size_t kTrackerCountMax = 64;
inline constexpr std::size_t kAddressBytesMax = 320;
inline constexpr std::size_t kOriginCountMax = 16;    // in a manifest or link
inline constexpr std::size_t kOriginBytesMax = 2048;  // of an origin's URL
inline constexpr std::size_t kAgentBytesMax = 64;
inline constexpr std::size_t kReasonBytesMax = 256;
inline constexpr std::size_t kPeerExchangeMax = 64;    // addresses in one message
inline constexpr std::size_t kAnnouncePeersMax = 200;  // addresses in one reply
inline constexpr std::size_t kStateEntriesMax = 4096;  // generations in one State
inline constexpr std::size_t kStateSpansMax = 4096;   // in one State: complete, unwanted, withdrawn
inline constexpr std::size_t kFetchingMax = 16;       // spans that are fetched from origins
inline constexpr std::size_t kCertificateBytes = 64;  // of a peer that speaks for the authority
inline constexpr std::size_t kCheckGenerationsMax = 64;  // in one CheckRequest
inline constexpr std::size_t kCheckKeyBytes = 32;
inline constexpr std::size_t kLeafGenerationsMax = 16;  // in one LeafRequest
inline constexpr std::size_t kWantedBlocksMax = 32;     // generations in one State, asked for so
inline constexpr std::size_t kPrivateProofBytes = 32;
inline constexpr std::size_t kCheckTagBytesMax = 16;    // t: check sum of one block
inline constexpr std::size_t kReceivedMax = 64;         // neighbours named in one State
inline constexpr std::size_t kConvictedMax = 64;        // peers named in one State
inline constexpr std::size_t kTakenBackPerState = 256;  // generations, besides all of them once

}  // namespace firn::limits
