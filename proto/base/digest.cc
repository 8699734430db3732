#include "proto/base/digest.h"

#include <openssl/evp.h>

#include <memory>
#include <vector>

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

}  // namespace

Digest sha256(std::span<const std::uint8_t> data) {
  const StageScope hashing(Stage::kHash);
  return Hasher().begin().add(data).end();
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

Digest generation_digest(std::span<const std::uint8_t> data, std::size_t block_bytes) {
  FIRN_CHECK(block_bytes > 0 && data.size() % block_bytes == 0);
  const StageScope hashing(Stage::kHash);
  Hasher hasher;
  MerkleTree tree(hasher);
  for (std::size_t at = 0; at < data.size(); at += block_bytes)
    tree.add(hasher.leaf(data.subspan(at, block_bytes)));
  return tree.root();
}

}  // namespace firn
