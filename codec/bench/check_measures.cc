#include "codec/bench/check_measures.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "codec/bench/check_limits.h"
#include "codec/bench/machine_limits.h"
#include "codec/check_key.h"
#include "codec/check_sums.h"
#include "codec/coding_vectors.h"
#include "codec/random.h"

namespace firn::codec::bench {
namespace {

constexpr std::size_t kCached = std::size_t{512} << 10, kLarge = std::size_t{256} << 20;

// Blocks of k bytes that fill about so much memory, one behind the other.
struct CheckedBlocks {
  std::vector<std::uint8_t> memory;
  std::vector<const std::uint8_t*> rows;

  CheckedBlocks(std::size_t bytes, std::size_t k) : memory(bytes / k * k + 64) {
    CoefficientStream(7, k).fill(memory);
    void* aligned = memory.data();
    std::size_t room = memory.size();
    std::align(64, bytes / k * k, aligned, room);
    for (std::size_t i = 0; i < bytes / k; ++i) {
      rows.push_back(static_cast<const std::uint8_t*>(aligned) + i * k);
    }
  }
};
using BlocksPointer = std::shared_ptr<CheckedBlocks>;

// A key of one kernel set and sums of n blocks, with room for a tag of each.
struct CheckWork {
  const CheckKernels& kernels;
  std::size_t n, k;
  BlocksPointer cached, large;
  std::vector<std::uint8_t> material, vector, tags;
  CheckKey key;
  CheckSums sums;
  std::size_t next = 0;

  CheckWork(const CheckKernels& set, const Shape& shape, BlocksPointer in_cache,
            BlocksPointer in_memory)
      : kernels(set),
        n(shape.n),
        k(shape.k),
        cached(std::move(in_cache)),
        large(std::move(in_memory)),
        material(CheckKey::material_bytes(k, CheckKey::kTagBytes)),
        vector(n),
        tags(large->rows.size() * CheckKey::kTagBytes),
        key(random_key(material, set, k)),
        sums(key, std::span(large->rows).first(n)) {
    CoefficientStream(9, n).fill(vector);
  }

  static CheckKey random_key(std::vector<std::uint8_t>& material, const CheckKernels& set,
                             std::size_t k) {
    CoefficientStream(8, k).fill(material);
    return {k, CheckKey::kTagBytes, material, set};
  }

  const std::uint8_t* next_block() { return cached->rows[next++ % cached->rows.size()]; }
  std::span<std::uint8_t> first_tags(std::size_t count) {
    return std::span(tags).first(count * CheckKey::kTagBytes);
  }
};
using CheckWorkPointer = std::shared_ptr<CheckWork>;

Cell check_cell(const char* operation, const char* series, const char* kernels, const Shape& shape,
                std::size_t rows) {
  return {operation, series, kernels, shape.n, shape.k, rows, 1, "GB/s", {}};
}

Measure read_measure(const char* operation, const BlocksPointer& blocks, const Shape& shape) {
  const std::size_t bytes = blocks->rows.size() * shape.k / 1024 * 1024;
  return {check_cell(operation, "read", "", shape, blocks->rows.size()),
          static_cast<double>(bytes) / 1e9, [=] { read_all(blocks->rows.front(), bytes); }};
}

void add_hash_measures(const CheckWorkPointer& w, std::vector<Measure>& measures) {
  const Shape shape{w->n, w->k};
  const auto add = [&](const char* operation, std::size_t rows, std::function<void()> work) {
    measures.push_back({check_cell(operation, "firn", w->kernels.name, shape, rows),
                        static_cast<double>(rows * w->k) / 1e9, std::move(work)});
  };
  constexpr std::size_t kRounds = 20000;
  const double register_bytes = register_hash_bytes(w->kernels.name, 1);
  if (register_bytes > 0) {
    measures.push_back({check_cell("hash", "register", w->kernels.name, shape, 0),
                        register_bytes * kRounds / 1e9,
                        [w] { register_hash_bytes(w->kernels.name, kRounds); }});
  }
  add("hash", 1, [w] { w->key.hash({w->next_block(), w->k}, w->first_tags(1)); });
  add("hash, many", w->cached->rows.size(),
      [w] { w->key.hash_rows(w->cached->rows, w->first_tags(w->cached->rows.size())); });
  add("check a block", 1, [w] {
    w->tags[0] = accepts(w->key, w->sums, w->vector, {w->next_block(), w->k}) ? 1 : 0;
  });
  // As a source answers: a key of its own for a generation, and the sums of its n blocks.
  const auto make_set = [w](std::size_t first) {
    const CheckKey key(w->k, CheckKey::kTagBytes, w->material, w->kernels);
    const CheckSums sums(key, std::span(w->large->rows).subspan(first, w->n));
    w->tags[0] = sums.bytes()[0];
  };
  add("make a set", w->n, [=] { make_set(0); });
  if (w->kernels.name == std::string("scalar")) return;
  const std::size_t generations = w->large->rows.size() / w->n;
  add("make sets, memory", generations * w->n, [=] {
    for (std::size_t g = 0; g < generations; ++g) make_set(g * w->n);
  });
}

}  // namespace

std::vector<Measure> check_measures(const Shape& shape) {
  const auto cached = std::make_shared<CheckedBlocks>(std::max(kCached, shape.k), shape.k);
  const auto large = std::make_shared<CheckedBlocks>(std::max(kLarge, shape.n * shape.k), shape.k);
  std::vector<Measure> measures;
  measures.push_back(read_measure("read, second cache", cached, shape));
  measures.push_back(read_measure("read, memory", large, shape));
  for (const CheckKernels* kernels : available_check_kernels()) {
    add_hash_measures(std::make_shared<CheckWork>(*kernels, shape, cached, large), measures);
  }
  return measures;
}

}  // namespace firn::codec::bench
