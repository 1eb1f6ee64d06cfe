// A table from 64-bit keys to 32-bit values that forgets everything at once and keeps its memory, for what is filled
// and emptied once per file. Keys come from hostile texts, so their places are mixed with a number of this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace guard {

class U64Table {
 public:
  struct Entry {
    std::uint32_t value = 0;
    bool fresh = false;  // it was not there before
  };

  void clear() noexcept;

  // The value of `key`, which becomes `value` where it had none.
  Entry insert(std::uint64_t key, std::uint32_t value = 0) {
    if ((count_ + 1) * 2 > slots_.size()) grow();
    for (std::size_t at = place_of(key);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.round != round_) {
        slot = {key, value, round_};
        ++count_;
        return {value, true};
      }
      if (slot.key == key) return {slot.value, false};
    }
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = 0;
    std::uint32_t round = 0;  // in use if it is the table's
  };

  std::size_t place_of(std::uint64_t key) const noexcept {
    std::uint64_t mixed = (key ^ seed()) * 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93ULL;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32)) & (slots_.size() - 1);
  }
  static std::uint64_t seed() noexcept { return seed_; }
  static const std::uint64_t seed_;
  void grow();

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
  std::uint32_t round_ = 1;
};

}  // namespace guard
