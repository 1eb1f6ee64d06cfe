#include "validator/lex/u64_table.h"

#if defined(__linux__)
#include <sys/auxv.h>
#endif

#include <cstring>
#include <utility>

namespace guard {
namespace {

constexpr std::size_t kSlotsFirst = 64;
// What one strange file made the table grow to is given back before the next.
constexpr std::size_t kSlotsKept = std::size_t{1} << 16;

// The kernel gives every process 16 random bytes.
std::uint64_t process_number() noexcept {
  std::uint64_t number = 0x2545f4914f6cdd1dULL;
#if defined(__linux__)
  const auto* const random =
      reinterpret_cast<const char*>(::getauxval(AT_RANDOM));  // NOLINT(performance-no-int-to-ptr): the kernel's
  if (random != nullptr) std::memcpy(&number, random, sizeof number);
#endif
  return number;
}

}  // namespace

const std::uint64_t U64Table::seed_ = process_number();

void U64Table::clear() noexcept {
  count_ = 0;
  if (slots_.size() > kSlotsKept) {
    slots_ = {};
    round_ = 1;
  } else if (++round_ == 0) {
    for (Slot& slot : slots_) slot.round = 0;
    round_ = 1;
  }
}

void U64Table::grow() {
  std::vector<Slot> old(slots_.empty() ? kSlotsFirst : slots_.size() * 2);
  old.swap(slots_);
  count_ = 0;
  for (const Slot& slot : old) {
    if (slot.round == round_) insert(slot.key, slot.value);
  }
}

}  // namespace guard
