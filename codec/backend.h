// What computes a batch, the CPU or a device, behind one interface: coded blocks from the source
// blocks of a generation, and generations from coded blocks. A program makes the backends it has
// (CpuBackend here, cuda_kernels/host/device_backend.h) and asks them; SharedBackend asks several.
//
// A call that fails has done nothing that counts: whatever it wrote is to be thrown away, and the
// same work may be given to another backend. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "codec/backend_status.h"
#include "codec/executor.h"
#include "codec/kernels.h"
#include "codec/parallel.h"

namespace firn::codec {

// Coded blocks of one generation: out[r] = sum_j vectors[r * n + j] * source[j].
struct EncodeWork {
  // Names the source blocks: work with the same key has the same ones, and a backend may keep them
  // where it computes. A caller that uses a key again for
  // other blocks calls forget() before.
  std::uint64_t generation_key = 0;
  std::size_t generation_size = 0, block_bytes = 0;  // n, k
  std::span<const std::uint8_t> source;              // n * k bytes; may be empty if it is kept
  std::span<const std::uint8_t> vectors;             // rows * n coefficients
  std::span<std::uint8_t* const> out;                // one for each row, k bytes, no overlap
};

// The sums of block checks (codec/check_sums.h) of a generation whose source blocks are kept.
struct SumsWork {
  std::uint64_t generation_key = 0;
  std::size_t generation_size = 0, block_bytes = 0, tag_bytes = 0;  // n, k, t
  std::span<const std::uint8_t> material;                           // of a codec::CheckKey
  std::span<std::uint8_t> sums;                                     // n * t bytes
  bool made = false;                                                // set by the backend
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;  // for people

  // Work of this shape will follow: what is slow once (memory, machine code) is done here, so that
  // it is not measured as coding.
  virtual void prepare(std::size_t /*generation_size*/, std::size_t /*block_bytes*/) {}
  virtual BackendStatus encode(const EncodeWork& work) = 0;
  // Decodes all, which have one shape, and says of each whether its vectors had full rank; those
  // that had not are no failure of the backend.
  virtual BackendStatus decode(std::span<GenerationWork> generations) = 0;
  // Makes the sums of those generations that it keeps, and leaves the others alone. Only for
  // backends that are faster at it than codec::CheckSums.
  virtual BackendStatus make_sums(std::span<SumsWork>) { return {}; }
  // Whether encode() of this key needs no source blocks.
  virtual bool keeps(std::uint64_t) const { return false; }
  // Bytes of source blocks that it keeps at most: those of the generations that encode() used last.
  virtual std::size_t kept_bytes_max() const { return 0; }
  // The source blocks of this key are of no use any more.
  virtual void forget(std::uint64_t) {}
};

// Batches on the CPU's kernels (codec/batch.h, codec/parallel.h). Never fails.
class CpuBackend final : public Backend {
 public:
  // Both must outlive this object.
  CpuBackend(Executor& executor, const Kernels& kernels) : executor_(executor), kernels_(kernels) {}

  std::string name() const override { return "cpu"; }
  BackendStatus encode(const EncodeWork& work) override;
  BackendStatus decode(std::span<GenerationWork> generations) override;

 private:
  Executor& executor_;
  const Kernels& kernels_;
};

}  // namespace firn::codec
