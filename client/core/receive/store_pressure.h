// What the store lets this peer receive: counts the rows in memory that wait for the store, and
// notes whether the store is paused (SwarmCore::store_paused; client/app/coding/disk_queue tries
// again). What has been granted already still comes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace firn::core {

class StorePressure {
 public:
  // A row was handed to the store, which keeps it in memory; it needs no more memory than a spooled
  // row does.
  void row_taken() { ++rows_in_memory_; }
  void row_stored() {
    if (rows_in_memory_ > 0) --rows_in_memory_;
  }
  std::uint64_t rows_in_memory() const { return rows_in_memory_; }

  // The disk accepts nothing until it is resumed.
  void pause(std::string error) {
    error_ = std::move(error);
    paused_ = true;
  }
  // A person is to be told that it is paused; false: has been.
  bool tell() { return !std::exchange(told_, true); }
  // True if a person was told.
  bool resume() {
    error_.clear();
    paused_ = false;
    return std::exchange(told_, false);
  }
  bool paused() const { return paused_; }
  const std::string& error() const { return error_; }  // while it is paused

 private:
  std::uint64_t rows_in_memory_ = 0;
  bool paused_ = false, told_ = false;
  std::string error_;
};

}  // namespace firn::core
