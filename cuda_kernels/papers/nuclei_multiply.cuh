// Multiplication of a byte by the four bytes of a word, by a loop over the factor's bits: Nuclei,
// IV-B and IV-C, in all its stages. factor is 0..255. The loop ends with the factor's highest one,
// so a random factor takes about 7 rounds and 0xff the full 8.
#pragma once

#include <cstdint>

namespace firn::cuda::papers {

// Fig. 3, byte by byte.
struct ByteLoop {
  static __device__ __forceinline__ std::uint32_t one(std::uint32_t factor, std::uint32_t data) {
    std::uint32_t result = 0;
    while (factor != 0) {
      if ((factor & 1) != 0) result ^= data;
      const bool overflowing = (data & 0x80) != 0;
      data = data << 1 & 0xff;
      if (overflowing) data ^= 0x1d;
      factor >>= 1;
    }
    return result;
  }
  static __device__ __forceinline__ std::uint32_t multiply(std::uint32_t factor,
                                                           std::uint32_t word) {
    std::uint32_t result = 0;
#pragma unroll
    for (int b = 0; b < 4; ++b) result |= one(factor, word >> (8 * b) & 0xff) << (8 * b);
    return result;
  }
};

// The word-wide loop around a way to make the mask of the polynomial: Fig. 4.
template <class Mask>
struct WordLoop {
  static __device__ __forceinline__ std::uint32_t multiply(std::uint32_t factor,
                                                           std::uint32_t data) {
    std::uint32_t result = 0;
    while (factor != 0) {
      if ((factor & 1) != 0) result ^= data;
      const std::uint32_t mask = Mask::of(data);
      data = (data & 0x7f7f7f7fu) << 1 ^ mask;
      factor >>= 1;
    }
    return result;
  }
};

// IV-B: conditions on each byte; 16 instructions of the 8800 GT. Compilers of today make selects of
// them.
struct MaskByConditions {
  static __device__ __forceinline__ std::uint32_t of(std::uint32_t data) {
    std::uint32_t mask = 0;
    if ((data & 0x80u) != 0) mask |= 0x1du;
    if ((data & 0x8000u) != 0) mask |= 0x1d00u;
    if ((data & 0x800000u) != 0) mask |= 0x1d0000u;
    if ((data & 0x80000000u) != 0) mask |= 0x1d000000u;
    return mask;
  }
};

// Statements (5), (6), (7a): no branch; the multiplication was four instructions then and is one
// now.
struct MaskByMultiplication {
  static __device__ __forceinline__ std::uint32_t of(std::uint32_t data) {
    return ((data & 0x80808080u) >> 7) * 0x1du;
  }
};

// Statement (7b): the 8800 GT multiplied 24 bits natively, so the top byte needs a condition. Since
// Fermi 32 bits are native and __mul24 is emulated: what was gained is lost, and (7a) stands in its
// place.
struct MaskByMul24 {
  static __device__ __forceinline__ std::uint32_t of(std::uint32_t data) {
    const std::uint32_t carries = (data & 0x80808080u) >> 7;
    // __mul24 gives the low 32 bits of the product of the low 24 bits.
    auto mask = static_cast<std::uint32_t>(__mul24(static_cast<int>(carries), 0x1d));
    if ((data & 0x80000000u) != 0) mask += 0x1d000000u;
    return mask;
  }
};

// IV-C, last step: PTX by hand. Written for the chips of today: prmt spreads each byte's top bit
// over the byte and lop3 masks and adds at once, which takes the multiplication out; the factor
// runs from its lowest bit as the sign of a reversed word, which takes a test out. Nine
// instructions a round.
struct WordByHand {
  static __device__ __forceinline__ std::uint32_t multiply(std::uint32_t factor,
                                                           std::uint32_t data) {
    std::uint32_t result = 0;
    asm("{\n"
        ".reg .pred take, more;\n"
        ".reg .b32 bits, mask, shifted;\n"
        "brev.b32 bits, %2;\n"
        "setp.ne.u32 more, bits, 0;\n"
        "@!more bra done;\n"
        "again:\n"
        "setp.lt.s32 take, bits, 0;\n"
        "@take xor.b32 %0, %0, %1;\n"
        "prmt.b32 mask, %1, 0, 0xba98;\n"
        "shl.b32 shifted, %1, 1;\n"
        "and.b32 shifted, shifted, 0xfefefefe;\n"
        "lop3.b32 %1, mask, 0x1d1d1d1d, shifted, 0x6a;\n"  // (mask & 0x1d..) ^ shifted
        "shl.b32 bits, bits, 1;\n"
        "setp.ne.u32 more, bits, 0;\n"
        "@more bra again;\n"
        "done:\n"
        "}\n"
        : "+r"(result), "+r"(data)
        : "r"(factor));
    return result;
  }
};

using WordConditions = WordLoop<MaskByConditions>;
using WordMask = WordLoop<MaskByMultiplication>;
using WordMul24 = WordLoop<MaskByMul24>;

}  // namespace firn::cuda::papers
