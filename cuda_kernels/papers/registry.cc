#include <algorithm>
#include <array>
#include <string>

#include "cuda_kernels/papers/launch.h"
#include "cuda_kernels/runtime/cuda_calls.h"

namespace firn::cuda::papers {
namespace {

using enum Kind;

constexpr Algorithm kNuclei[] = {
    {"nuclei.multiply.byte", "IV-B, Fig. 3", "nuclei_multiply_byte",
     "multiplication by a loop, byte by byte; no memory", kMultiply, kNoTrait,
     multiply_by_byte_loop},
    {"nuclei.multiply.word_conditions", "IV-B", "nuclei_multiply_word_conditions",
     "four bytes at once, the mask by conditions", kMultiply, kNoTrait, multiply_by_conditions},
    {"nuclei.multiply.word_mask", "IV-C, Fig. 4 (7a)", "nuclei_multiply_word_mask",
     "the mask without branches, by a multiplication", kMultiply, kNoTrait, multiply_by_mask},
    {"nuclei.multiply.word_mul24", "IV-C, Fig. 4 (7b)", "nuclei_multiply_word_mul24",
     "the multiplication in 24 bits", kMultiply, kNoTrait, multiply_by_mul24},
    {"nuclei.multiply.word_by_hand", "IV-C, end", "nuclei_multiply_word_by_hand",
     "the loop in hand-written PTX", kMultiply, kNoTrait, multiply_by_hand},
    {"nuclei.encode.coarse", "IV-E.1", "nuclei_encode_coarse", "a thread per coded block", kEncode,
     kNoTrait, encode_coarse},
    {"nuclei.encode.fine", "IV-E.1", "nuclei_encode_fine", "a thread per word", kEncode, kNoTrait,
     encode_fine},
    {"nuclei.encode.fine_coefficients4", "IV-E.1; Envelope 4.2.1",
     "nuclei_encode_fine_coefficients4", "the same, coefficients read four at a time", kEncode,
     kNoTrait, encode_fine_coefficients4},
    {"nuclei.encode.mixed", "IV-E.2, Fig. 6", "nuclei_encode_gpu_share",
     "coded blocks shared between CPU and GPU", kEncode, kResultOnHost | kUsesHostInput,
     encode_mixed},
    {"nuclei.coefficients", "IV-E.3", "nuclei_random_coefficients",
     "random coefficients, a generator per coded block", kCoefficients, kOwnCoefficients,
     make_coefficients},
    {"nuclei.encode.gpu_coefficients", "IV-E.3",
     "nuclei_random_coefficients, nuclei_encode_made_coefficients",
     "coefficients made and used on the GPU", kEncode, kOwnCoefficients, encode_gpu_coefficients},
    {"nuclei.decode.host_pivot", "IV-F.1", "nuclei_reduce_row, nuclei_insert_row",
     "progressive, the pivot searched by the host", kDecode, kNoTrait, decode_host_pivot},
    {"nuclei.decode.replicated", "IV-F.2; Envelope Fig. 3", "nuclei_decode_replicated_row",
     "progressive on the GPU, coefficients copied to every multiprocessor", kDecode, kNoTrait,
     decode_replicated},
    {"nuclei.decode.buffered", "IV-F.2, end", "nuclei_decode_buffered",
     "the same after n blocks have come, in one launch", kDecode, kNoTrait, decode_buffered},
};

constexpr Algorithm kEnvelope[] = {
    {"envelope.encode.table0", "5.1, Fig. 1; Nuclei V-C", "envelope_encode_table0",
     "logarithms and exponentials in shared memory", kEncode, kNoTrait, encode_table0},
    {"envelope.encode.table1", "5.1.1, Fig. 5", "envelope_to_log, envelope_encode_table1",
     "operands brought to the logarithmic domain first", kEncode, kNoTrait, encode_table1},
    {"envelope.encode.table2", "5.1.3", "envelope_to_log, envelope_encode_table2",
     "a coefficient tested once for four bytes", kEncode, kNoTrait, encode_table2},
    {"envelope.encode.table3", "5.1.3", "envelope_to_log_zero_remapped, envelope_encode_table3",
     "the logarithm of zero remapped to zero", kEncode, kNoTrait, encode_table3},
    {"envelope.encode.table4_texture", "5.1.3",
     "envelope_to_log_zero_remapped, envelope_encode_table4_texture",
     "exponentials through a texture", kEncode, kNoTrait, encode_table4_texture},
    {"envelope.encode.table4_read_only", "5.1.3 today",
     "envelope_to_log_zero_remapped, envelope_encode_table4_read_only",
     "exponentials through the read-only cache", kEncode, kNoTrait, encode_table4_read_only},
    {"envelope.encode.table5", "5.1.3", "envelope_to_log_zero_remapped, envelope_encode_table5",
     "eight copies of word-wide exponentials in shared memory", kEncode, kNoTrait, encode_table5},
    {"envelope.encode.conflict_free", "5.1.3, estimate",
     "envelope_to_log_zero_remapped, envelope_encode_conflict_free", "32 copies, one for each bank",
     kEncode, kNoTrait, encode_conflict_free},
    {"envelope.encode.cpu_log_domain", "5.1.2, end", "", "the logarithmic form on the CPU", kEncode,
     kResultOnHost | kUsesHostInput | kOnCpu, encode_log_domain_on_cpu},
    {"envelope.decode.multi_segment_one", "5.2",
     "envelope_invert_one_per_multiprocessor, then table5's two",
     "many segments: inversion, one on a multiprocessor, and multiplication", kDecode, kSquare,
     decode_multi_segment_one},
    {"envelope.decode.multi_segment_two", "5.2, end",
     "envelope_invert_two_per_multiprocessor, then table5's two",
     "the same with two inversions on a multiprocessor", kDecode, kSquare,
     decode_multi_segment_two},
    {"envelope.decode.atomic_min", "5.4.2", "envelope_decode_atomic_min",
     "a single segment, buffered, the pivot by atomicMin", kDecode, kNoTrait, decode_atomic_min},
    {"envelope.decode.cached_matrix", "5.4.3", "envelope_decode_cached_matrix",
     "the same with the coefficient matrix in shared memory", kDecode, kMatrixInShared,
     decode_cached_matrix},
};

constexpr Algorithm kVingelmann[] = {
    {"vingelmann.encode.packet_per_thread", "4.1", "vingelmann_encode_packet_per_thread",
     "256 x 256 table in a texture, a thread per coded packet", kEncode, kNoTrait,
     encode_packet_per_thread},
    {"vingelmann.encode.byte", "4.1", "vingelmann_encode_byte_per_thread",
     "the same, a thread per byte", kEncode, kNoTrait, encode_byte_per_thread},
    {"vingelmann.encode.word", "4.1", "vingelmann_encode_word_per_thread",
     "the same, a thread per four bytes", kEncode, kNoTrait, encode_word_per_thread},
    {"vingelmann.decode.two_kernels", "4.2", "vingelmann_reduce_packet, vingelmann_insert_packet",
     "progressive, a thread per byte, the pivot searched by the host", kDecode, kNoTrait,
     decode_two_kernels},
    {"vingelmann.decode.pivot_kernel", "4.2",
     "vingelmann_reduce_packet_rank_on_gpu, vingelmann_find_pivot, "
     "vingelmann_insert_packet_rank_on_gpu",
     "the pivot searched by a kernel of one thread", kDecode, kNoTrait, decode_pivot_kernel},
    {"vingelmann.encode.binary", "6", "vingelmann_pack_bits, vingelmann_encode_binary",
     "coefficients in GF(2)", kEncode, kBinary, encode_binary},
    {"vingelmann.decode.binary", "6",
     "vingelmann_pack_bits, vingelmann_reduce_packet_binary, vingelmann_insert_packet_binary",
     "the two kernels for coefficients in GF(2)", kDecode, kBinary, decode_binary},
};

constexpr Algorithm kTang[] = {
    {"tang.encode.fragment1", "3.2, Fig. 5", "tang_encode_fragment1",
     "direct products of fragments of one byte", kEncode, kNoTrait, encode_fragment1},
    {"tang.encode.fragment2", "3.2, Frag", "tang_encode_fragment2", "of two bytes", kEncode,
     kNoTrait, encode_fragment2},
    {"tang.encode.fragment4", "3.2, Fig. 5", "tang_encode_fragment4", "of four bytes", kEncode,
     kNoTrait, encode_fragment4},
    {"tang.encode.fragment2_shared", "4.1, Frag+Opt", "tang_encode_fragment2_shared",
     "two bytes, data in shared memory", kEncode, kNoTrait, encode_fragment2_shared},
    {"tang.decode.inverse_global", "3.3", "tang_decode_inverse_global",
     "inverse from the host, tiled product, no texture", kDecode, kSquare | kUsesHostInput,
     decode_inverse_global},
    {"tang.decode.inverse_texture", "4.3, Fig. 4", "tang_decode_inverse_texture",
     "the inverse read as a texture", kDecode, kSquare | kUsesHostInput, decode_inverse_texture},
    {"tang.decode.inverse_shared", "4.1, 5.4", "tang_decode_inverse_shared",
     "the inverse in shared memory", kDecode, kSquare | kUsesHostInput, decode_inverse_shared},
};

constexpr auto kAll = [] {
  std::array<Algorithm,
             std::size(kNuclei) + std::size(kEnvelope) + std::size(kVingelmann) + std::size(kTang)>
      all{};
  auto to = std::copy(std::begin(kNuclei), std::end(kNuclei), all.begin());
  to = std::copy(std::begin(kEnvelope), std::end(kEnvelope), to);
  to = std::copy(std::begin(kVingelmann), std::end(kVingelmann), to);
  std::copy(std::begin(kTang), std::end(kTang), to);
  return all;
}();

// What is wrong with the job, or nothing.
const char* fault(const Algorithm& algorithm, const Context& context, const Job& job) {
  if (job.segments < 1 || job.segments > 65535) return "segments outside 1..65535";
  if (job.n < 1 || job.n > generation_size_max(algorithm, context)) return "n is out of range";
  if (job.m < 1 || job.k < 4 || job.k % 4 != 0) return "m or k is out of range";
  // Threads of a segment are counted in 32 bits.
  if (std::int64_t{job.m} * job.k > 0x7fffffff || std::int64_t{job.n} * job.k > 0x7fffffff) {
    return "a segment's coded blocks exceed 2 GiB";
  }
  if ((algorithm.traits & kSquare) != 0 && job.m != job.n) return "m is not n";
  if (algorithm.kind == kDecode && job.ranks == nullptr) return "no place for ranks";
  if (algorithm.kind == kMultiply && (job.factor > 0xff || job.segments != 1)) {
    return "the benchmark without memory has one segment and a factor of one byte";
  }
  const bool host_in = (algorithm.traits & kUsesHostInput) != 0;
  if (host_in && job.host_coefficients == nullptr) return "no coefficients in host memory";
  if ((algorithm.traits & kResultOnHost) != 0 &&
      (job.host_out == nullptr || job.host_blocks == nullptr)) {
    return "no blocks in host memory";
  }
  return nullptr;
}

}  // namespace

std::span<const Algorithm> algorithms() {
  return kAll;
}

const Algorithm* find(std::string_view name) {
  const auto at = std::find_if(kAll.begin(), kAll.end(),
                               [&](const Algorithm& one) { return one.name == name; });
  return at == kAll.end() ? nullptr : &*at;
}

int generation_size_max(const Algorithm& algorithm, const Context& context) {
  return (algorithm.traits & kMatrixInShared) != 0 ? cached_matrix_size_max(context) : 1024;
}

Status run(Context& context, const Algorithm& algorithm, const Job& job) {
  if (const char* wrong = fault(algorithm, context, job); wrong != nullptr) {
    return unsupported(std::string(algorithm.name) + ": " + wrong);
  }
  if (Status s = calls::select(context.device().index); !s.ok()) return s;
  return algorithm.launch(context, job);
}

}  // namespace firn::cuda::papers
