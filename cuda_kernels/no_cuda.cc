// What stands for the CUDA runtime and for the kernels in a build without CUDA: there are no
// devices, and every call says so.
#include "cuda_kernels/batch/coefficients.h"
#include "cuda_kernels/hash/launch.h"
#include "cuda_kernels/inverse/launch.h"
#include "cuda_kernels/product/launch.h"
#include "cuda_kernels/runtime/cuda_calls.h"
#include "cuda_kernels/sync/job.h"

namespace firn::cuda {
namespace {

Status none() {
  return {Code::kFailed, "built without CUDA"};
}

}  // namespace

namespace calls {

Status count_devices(int& count) {
  count = 0;
  return none();
}
Status describe_device(int, Device&) {
  return none();
}
Versions versions() {
  return {};
}

Status select(int) {
  return none();
}
Status free_memory(std::size_t&) {
  return none();
}

Status allocate(std::size_t, std::uint8_t*&) {
  return none();
}
void release(std::uint8_t*) {}
Status allocate_pinned(std::size_t, std::uint8_t*&) {
  return none();
}
void release_pinned(std::uint8_t*) {}

Status create_stream(bool, void*&) {
  return none();
}
void destroy_stream(void*) {}
Status wait_for_stream(void*) {
  return none();
}

Status create_event(bool, void*&) {
  return none();
}
void destroy_event(void*) {}
Status record_event(void*, void*) {
  return none();
}
Status make_stream_wait(void*, void*) {
  return none();
}
Status seconds_between(void*, void*, double&) {
  return none();
}

Status copy(void*, const void*, std::size_t, Direction, void*) {
  return none();
}
Status copy_rows(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, Direction,
                 void*) {
  return none();
}
Status fill(void*, std::uint8_t, std::size_t, void*) {
  return none();
}

}  // namespace calls

Status launch_table_product(const ProductJob&, void*) {
  return none();
}
Status launch_mma_product(const ProductJob&, int, void*) {
  return none();
}
Status launch_resident_wgmma_product(const ProductJob&, int, void*) {
  return none();
}
std::size_t expanded_bytes(int, int) {
  return 0;
}
Status launch_streamed_wgmma_product(const ProductJob&, std::uint8_t*, int, void*) {
  return none();
}
std::size_t tower_bytes(int, int) {
  return 0;
}
Status launch_tower_wgmma_product(const ProductJob&, std::uint8_t*, int, void*) {
  return none();
}

Status launch_small_inverse(const InverseJob&, void*) {
  return none();
}
std::size_t panel_work_bytes(int) {
  return 0;
}
Status launch_panel_inverse(const InverseJob&, std::uint8_t*, void*) {
  return none();
}

Status launch_coefficient_fill(const CoefficientJob&, void*) {
  return none();
}

Status launch_tag_hash(const TagJob&, void*) {
  return none();
}

namespace sync {

Status launch_without_flips(const Job&, void*, int*) {
  return none();
}
Status launch_with_flips(const Job&, void*, int*) {
  return none();
}
Status launch_any_codeword(const Job&, void*, int*) {
  return none();
}
Status launch_double(const Job&, bool, void*, int*) {
  return none();
}

}  // namespace sync

}  // namespace firn::cuda
