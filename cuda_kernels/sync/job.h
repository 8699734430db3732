// Internal: one launch of the production kernel, and its launchers. The host's side is
// device_decoder.h.
//
// The kernel is the superposed form of the MAP decoder (docs/gpu.md): a block of threads decodes a
// frame, or a few where the alphabet is small. Half of its warps go forwards through the frame and
// half backwards; they meet in the middle, and beyond it each has the other's rows, so that symbol
// posteriors need no third pass.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/runtime/status.h"

namespace firn::cuda::sync {

// How a block's threads and its piece of the workspace are divided. The same for all blocks.
struct Division {
  int lanes = 32;     // threads of a warp that work on one frame: 32, or a power of two >= q
  int warps = 1;      // warps in each direction
  int rounds = 1;     // how many symbols each thread takes, one after the other
  int row_pitch = 0;  // reals from one row of states to the next, a multiple of 32
  int bit_words = 0;  // words of 32 received bits of one frame
  std::size_t slot_bytes = 0;    // workspace of one block
  std::size_t shared_bytes = 0;  // dynamic shared memory of one block

  constexpr int frames_per_block() const { return 32 / lanes; }
  constexpr int threads() const { return 2 * warps * 32; }
};

// Arrays on the device. Rows of different frames follow one another unless a pitch is given.
struct JobInput {
  const std::uint32_t* codebooks = nullptr;  // books x q
  const std::uint8_t* received = nullptr;    // a bit a byte, frames x received_pitch
  std::size_t received_pitch = 0;
  const int* received_bits = nullptr;   // of each frame
  const int* origins = nullptr;         // of each frame: where in its bits drift 0 stands
  const double* start = nullptr;        // frames x states, sums of 1: alpha at boundary 0
  const double* end = nullptr;          // likewise beta at boundary N
  const double* priors = nullptr;       // frames x N x q; null: all symbols alike
  const int* end_boundaries = nullptr;  // of each frame: whose drift is wanted, beside that of 0
};

struct JobOutput {
  float* posteriors = nullptr;         // frames x N x q; or
  double* exact_posteriors = nullptr;  // the same, where the double kernel shall write
  // Of the drift at boundary 0 and at the end boundary, frames x 2 x states, of any sum.
  double* boundaries = nullptr;
  double* log_likelihoods = nullptr;  // of each frame
  std::uint8_t* lost = nullptr;       // of each frame: 1 if no mass, or too little, was left
  // The frames that a float kernel lost, in any order, and how many; the double kernel's input.
  int* redo = nullptr;
  int* redo_count = nullptr;
};

struct Job {
  int n = 0, q = 0, length = 0;   // bits in a codeword, symbols of the alphabet, N
  int drift_low = 0, states = 0;  // m_tau-, M_tau
  int books = 0;                  // index i uses codebook i mod books
  double insertion_half = 0, deletion = 0, match = 0, mismatch = 0;  // P_i / 2, P_d, Q(y|x)
  double match_power = 0;                                            // match^n

  JobInput in;
  JobOutput out;

  int frames = 0;
  int blocks = 0;  // each decodes every blocks-th frame (or group of frames) in a slot of its own
  std::uint8_t* workspace = nullptr;  // blocks x division.slot_bytes
  Division division;
};

// The kernels that hold a lattice column in registers are for codewords of up to this many bits,
// and for channels that hand on at least this share of bits as they are: scaled nodes stay below
// 2^89.
inline constexpr int kRegisterBitsMax = 16;
inline constexpr double kRegisterMatchMin = 0.25;
inline bool takes_registers(const Job& job) {
  return job.n <= kRegisterBitsMax && job.match >= kRegisterMatchMin;
}

// Divides a block's work; `received_bits_max` bounds the received bits of a frame. `column_bytes`
// is what the kernel keeps in shared memory for each thread, `real_bytes` 4 or 8.
Division divide(int q, int length, int states, int received_bits_max, int real_bytes,
                int column_bytes);

// Which kernel: float with a lattice column in registers where n allows it, or double.
enum class Kernel { kFloat, kDouble };
// What that kernel keeps in shared memory for each thread, and its reals.
int column_bytes(Kernel kernel, const Job& job);
int real_bytes(Kernel kernel);

// Decodes all frames, or those of job.redo if `redo`. Frames that the float kernel loses are added
// to job.redo, if there is one. The job's division is divide()'s for this kernel; where `resident`
// is not null nothing is launched, and it is set to the number of blocks that a multiprocessor
// holds.
Status launch_superposed(const Job& job, Kernel kernel, bool redo, void* stream,
                         int* resident = nullptr);

// Its parts, a file of kernels each: float where takes_registers(), for channels without flips and
// with; float for others; double.
Status launch_without_flips(const Job& job, void* stream, int* resident);
Status launch_with_flips(const Job& job, void* stream, int* resident);
Status launch_any_codeword(const Job& job, void* stream, int* resident);
Status launch_double(const Job& job, bool redo, void* stream, int* resident);

}  // namespace firn::cuda::sync
