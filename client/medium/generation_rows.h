// What was read of one generation's rows, in pieces: decodes what can be decoded, and says which
// rows are known in whole where that is not all of it.
//
// Media cut a row into slices, and each may have cut it otherwise. The bytes between two
// neighbouring cuts of any of them are a *piece*: a code of its own, of which any n innovative rows
// give that piece of all source blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace firn::medium {

// Pure; one thread at a time.
class GenerationRows {
 public:
  // n: source blocks. cuts: 0 first, then ascending, k last; at least two.
  GenerationRows(std::size_t n, std::vector<std::size_t> cuts);

  // Bytes of row number `row` from offset `first` on; they begin and end at cuts. The first word
  // counts where a piece is told twice.
  void add(std::uint32_t row, const std::vector<std::uint8_t>& vector, std::size_t first,
           std::span<const std::uint8_t> bytes);
  // All k bytes of a row without a number.
  void add_whole(const std::vector<std::uint8_t>& vector, std::span<const std::uint8_t> payload);

  // Writes the generation's n x k bytes. False if rows are missing: then some pieces of `data` hold
  // what is right, and the following say more.
  bool decode(std::span<std::uint8_t> data);
  // Innovative ones that lack, of all pieces together; 0 before decode().
  std::size_t missing() const { return missing_; }

  struct Row {
    std::vector<std::uint8_t> vector, payload;
  };
  // After decode(data) was false: the numbered rows of which every piece was read, or can be made
  // as it decoded. They need not be independent of each other.
  std::vector<Row> whole_rows(std::span<const std::uint8_t> data) const;

 private:
  struct Known {
    std::vector<std::uint8_t> vector, payload;
    std::vector<bool> has;  // of each piece
  };
  std::size_t pieces() const { return cuts_.size() - 1; }
  std::size_t piece_at(std::size_t offset) const;
  Known& known(std::uint64_t key, const std::vector<std::uint8_t>& vector);
  bool decode_piece(std::size_t piece, std::span<std::uint8_t> data);

  std::size_t n_;
  std::vector<std::size_t> cuts_;
  std::map<std::uint64_t, Known> rows_;  // by number; those without one behind all others
  std::vector<bool> decoded_;            // of each piece
  std::size_t missing_ = 0;
};

}  // namespace firn::medium
