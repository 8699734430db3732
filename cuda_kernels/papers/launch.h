// Internal: what the registry points to, one group per file. Jobs have been checked.
#pragma once

#include "cuda_kernels/papers/context.h"
#include "cuda_kernels/papers/papers.h"

namespace firn::cuda::papers {

// nuclei_multiply.cu
Status multiply_by_byte_loop(Context& context, const Job& job);
Status multiply_by_conditions(Context& context, const Job& job);
Status multiply_by_mask(Context& context, const Job& job);
Status multiply_by_mul24(Context& context, const Job& job);
Status multiply_by_hand(Context& context, const Job& job);

// nuclei_encode.cu
Status encode_coarse(Context& context, const Job& job);
Status encode_fine(Context& context, const Job& job);
Status encode_fine_coefficients4(Context& context, const Job& job);
Status encode_gpu_coefficients(Context& context, const Job& job);
// What encode_mixed leaves to the GPU.
Status launch_gpu_share(const Job& job, void* stream);

// nuclei_coefficients.cu
Status make_coefficients(Context& context, const Job& job);
Status launch_random_coefficients(const Job& job, std::uint8_t* out, void* stream);

// nuclei_mixed.cc
Status encode_mixed(Context& context, const Job& job);

// nuclei_decode.cu
Status decode_host_pivot(Context& context, const Job& job);
Status decode_replicated(Context& context, const Job& job);
Status decode_buffered(Context& context, const Job& job);

// envelope_tables.cu
Status encode_table0(Context& context, const Job& job);
Status encode_table1(Context& context, const Job& job);
Status encode_table2(Context& context, const Job& job);
Status encode_table3(Context& context, const Job& job);
Status encode_table4_texture(Context& context, const Job& job);
Status encode_table4_read_only(Context& context, const Job& job);
Status encode_table5(Context& context, const Job& job);
Status encode_conflict_free(Context& context, const Job& job);
// table5 with its preprocessing; `scratch` takes table_scratch_bytes(job).
std::size_t table_scratch_bytes(const Job& job);
Status launch_table5(Context& context, const Job& job, std::uint8_t* scratch);

// envelope_decode.cu
Status decode_multi_segment_one(Context& context, const Job& job);
Status decode_multi_segment_two(Context& context, const Job& job);
Status decode_atomic_min(Context& context, const Job& job);
Status decode_cached_matrix(Context& context, const Job& job);
int cached_matrix_size_max(const Context& context);

// envelope_cpu.cc
Status encode_log_domain_on_cpu(Context& context, const Job& job);

// vingelmann_encode.cu
Status encode_packet_per_thread(Context& context, const Job& job);
Status encode_byte_per_thread(Context& context, const Job& job);
Status encode_word_per_thread(Context& context, const Job& job);

// vingelmann_decode.cu
Status decode_two_kernels(Context& context, const Job& job);
Status decode_pivot_kernel(Context& context, const Job& job);

// vingelmann_binary.cu
Status encode_binary(Context& context, const Job& job);
Status decode_binary(Context& context, const Job& job);

// tang_encode.cu
Status encode_fragment1(Context& context, const Job& job);
Status encode_fragment2(Context& context, const Job& job);
Status encode_fragment4(Context& context, const Job& job);
Status encode_fragment2_shared(Context& context, const Job& job);

// tang_decode.cu
Status decode_inverse_global(Context& context, const Job& job);
Status decode_inverse_texture(Context& context, const Job& job);
Status decode_inverse_shared(Context& context, const Job& job);

}  // namespace firn::cuda::papers
