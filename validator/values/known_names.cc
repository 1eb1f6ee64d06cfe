#include "validator/values/known_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rules/surface.h"

namespace guard {
namespace {

constexpr std::size_t kSlots = 1024;

// No traits of functions.
constexpr CalleeTraits kProgram = 128;
constexpr CalleeTraits kRoot = 256;
constexpr CalleeTraits kGlobal = 512;

struct Slot {
  std::string_view name;
  CalleeTraits traits = 0;
};

// kSurfaceRows, for the compiler to read: what stays in the program is the table made of it.
#include "rules/surface_table.inc"

// The lists of word_lists.toml, by name.
class TraitTable {
 public:
  // Fails to compile where a list is missing: an empty one would let everything pass.
  constexpr TraitTable() {
    constexpr std::pair<std::string_view, CalleeTraits> kLists[] = {{"runs_text", kRunsText},
        {"runs_command", kRunsCommand}, {"asserts", kAsserts}, {"passive", kPassive}, {"folds", kFolds},
        {"writes_first", kWritesFirst}, {"writes_second", kWritesSecond}, {"programs", kProgram},
        {"followed_roots", kRoot}, {"known_globals", kGlobal}};
    for (const auto& [list, trait] : kLists) {
      bool is_missing = true;
      for (const SurfaceRow& row : kSurfaceRows) {
        if (row.object != list) continue;
        is_missing = false;
        Slot& slot = slots_[slot_of(row.name)];
        slot.name = row.name;
        slot.traits |= trait;
        if (trait == kProgram) program_letters_ |= letter(row.name[0]);
      }
      if (is_missing) throw std::string_view(list);
    }
  }

  constexpr CalleeTraits find(std::string_view name) const noexcept { return slots_[slot_of(name)].traits; }
  // Most words begin with a letter that no program begins with.
  constexpr bool is_program(std::string_view word) const noexcept {
    return (program_letters_ & letter(word[0])) != 0 && (find(word) & kProgram) != 0;
  }

 private:
  constexpr std::size_t slot_of(std::string_view name) const noexcept {
    std::size_t at = hash_name(name) % kSlots;
    while (!slots_[at].name.empty() && slots_[at].name != name) at = (at + 1) % kSlots;
    return at;
  }

  static constexpr std::uint32_t letter(char c) noexcept { return 1U << (static_cast<unsigned char>(c) & 31U); }

  std::array<Slot, kSlots> slots_;
  std::uint32_t program_letters_ = 0;
};

constexpr TraitTable kTable;

bool is_program_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

}  // namespace

bool is_identifier(std::string_view text) noexcept {
  constexpr std::size_t kLongest = 128;
  if (text.empty() || text.size() > kLongest || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), is_word_byte);
}

CalleeTraits traits_of(std::string_view callee) noexcept {
  const std::string_view name = last_name(callee);
  constexpr CalleeTraits kOfFunctions = kProgram - 1;
  return name.empty() || name.size() > 32 ? CalleeTraits{0} : kTable.find(name) & kOfFunctions;
}

bool is_root_name(std::string_view name) noexcept { return (kTable.find(name) & kRoot) != 0; }
bool is_known_global(std::string_view name) noexcept { return (kTable.find(name) & kGlobal) != 0; }

bool names_program(std::string_view text) noexcept {
  constexpr std::size_t kTextMax = 65'536;
  if (text.size() > kTextMax) return false;
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && !(text[at] >= 'a' && text[at] <= 'z')) ++at;
    std::size_t end = at;
    while (end < text.size() && is_program_byte(text[end])) ++end;
    const bool in_name = at > 0 && (text[at - 1] == '.' || (text[at - 1] >= 'A' && text[at - 1] <= 'Z'));  // .env
    if (!in_name && end - at >= 2 && end - at <= 16 && kTable.is_program(text.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace guard
