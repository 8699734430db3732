#include "proto/base/digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "proto/base/leaf_lanes_avx512.h"
#include "proto/base/result.h"
#include "proto/base/stage_times.h"

namespace firn {
namespace {

// Fetched once: a fetch costs about as much as hashing a short message.
const EVP_MD* sha256_method() {
  static EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  FIRN_CHECK(method != nullptr);
  return method;
}

// One OpenSSL context for any number of digests, one after the other.
class Hasher {
 public:
  Hasher() { FIRN_CHECK(context_ != nullptr); }

  Hasher& begin() {
    FIRN_CHECK(EVP_DigestInit_ex(context_.get(), sha256_method(), nullptr) == 1);
    return *this;
  }
  Hasher& add(std::span<const std::uint8_t> data) {
    FIRN_CHECK(EVP_DigestUpdate(context_.get(), data.data(), data.size()) == 1);
    return *this;
  }
  Digest end() {
    Digest digest;
    FIRN_CHECK(EVP_DigestFinal_ex(context_.get(), digest.bytes.data(), nullptr) == 1);
    return digest;
  }

  Digest leaf(std::span<const std::uint8_t> data) {
    static constexpr std::uint8_t kLeaf[] = {0};
    return begin().add(kLeaf).add(data).end();
  }
  Digest node(const Digest& left, const Digest& right) {
    std::uint8_t message[1 + 2 * kIdBytes] = {1};
    std::memcpy(message + 1, left.bytes.data(), kIdBytes);
    std::memcpy(message + 1 + kIdBytes, right.bytes.data(), kIdBytes);
    return begin().add(message).end();
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_{EVP_MD_CTX_new()};
};

// The tree over leaves that come one at a time: the roots of its complete subtrees, largest first,
// one for each bit set in the number of leaves so far.
class MerkleTree {
 public:
  explicit MerkleTree(Hasher& hasher) : hasher_(hasher) {}

  void add(Digest leaf) {
    for (std::size_t bits = count_++; bits & 1; bits >>= 1) {
      leaf = hasher_.node(roots_.back(), leaf);
      roots_.pop_back();
    }
    roots_.push_back(leaf);
  }

  Digest root() {
    if (roots_.empty()) return hasher_.begin().end();
    Digest root = roots_.back();
    for (std::size_t i = roots_.size() - 1; i-- > 0;) root = hasher_.node(roots_[i], root);
    return root;
  }

 private:
  Hasher& hasher_;
  std::size_t count_ = 0;
  std::vector<Digest> roots_;
};

#ifdef FIRN_LEAF_LANES_AVX512
// Fewer blocks than this are done one by one: the lanes take as long for few as for sixteen, about
// as long as OpenSSL for nine.
constexpr std::size_t kWorthLanes = 10;

// Makes leaves from the first on, sixteen at a time, while that is worth it; returns how many.
std::size_t leaves_by_lanes(std::span<const std::uint8_t> data, std::size_t block_bytes,
                            std::span<Digest> leaves) {
  static const bool usable =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
  if (!usable) return 0;
  std::size_t made = 0;
  while (leaves.size() - made >= kWorthLanes) {
    const std::size_t count = std::min(kLeafLanes, leaves.size() - made);
    const std::uint8_t* blocks[kLeafLanes];
    for (std::size_t lane = 0; lane < kLeafLanes; ++lane)  // a lane too many repeats the last block
      blocks[lane] = data.data() + (made + std::min(lane, count - 1)) * block_bytes;
    std::uint8_t digests[kLeafLanes][kLeafDigestBytes];
    leaf_lanes_avx512(blocks, block_bytes, digests);
    for (std::size_t lane = 0; lane < count; ++lane)
      std::memcpy(leaves[made + lane].bytes.data(), digests[lane], kLeafDigestBytes);
    made += count;
  }
  return made;
}
#else
std::size_t leaves_by_lanes(std::span<const std::uint8_t>, std::size_t, std::span<Digest>) {
  return 0;
}
#endif

}  // namespace

Digest sha256(std::span<const std::uint8_t> data) {
  const StageScope hashing(Stage::kHash);
  return Hasher().begin().add(data).end();
}

PeerId peer_id_of(const PublicKey& key) {
  return *PeerId::from_bytes(sha256(key.bytes).raw());
}

struct Sha256::State {
  Hasher hasher;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  state_->hasher.begin();
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::uint8_t> data) {
  const StageScope hashing(Stage::kHash);
  state_->hasher.add(data);
}

Digest Sha256::finish() {
  const Digest digest = state_->hasher.end();
  state_->hasher.begin();
  return digest;
}

Digest merkle_leaf(std::span<const std::uint8_t> data) {
  return Hasher().leaf(data);
}

Digest merkle_root(std::span<const Digest> leaves) {
  Hasher hasher;
  MerkleTree tree(hasher);
  for (const Digest& leaf : leaves) tree.add(leaf);
  return tree.root();
}

std::vector<Digest> merkle_leaves(std::span<const std::uint8_t> data, std::size_t block_bytes) {
  FIRN_CHECK(block_bytes > 0 && data.size() % block_bytes == 0);
  const StageScope hashing(Stage::kHash);
  std::vector<Digest> leaves(data.size() / block_bytes);
  Hasher hasher;
  for (std::size_t i = leaves_by_lanes(data, block_bytes, leaves); i < leaves.size(); ++i)
    leaves[i] = hasher.leaf(data.subspan(i * block_bytes, block_bytes));
  return leaves;
}

Digest generation_digest(std::span<const std::uint8_t> data, std::size_t block_bytes) {
  return merkle_root(merkle_leaves(data, block_bytes));
}

}  // namespace firn
