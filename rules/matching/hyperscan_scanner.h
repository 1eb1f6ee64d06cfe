// Hyperscan in block mode: where matches of many patterns end, in one pass. The only file that sees hs.h.
//
// A HyperscanScanner is const and shared by threads; a Scratch belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace guard {

class HyperscanScanner {
 public:
  struct Source {
    std::uint32_t id = 0;
    std::string_view regex;  // as rewrite_regex() leaves it
  };

  struct Widths {
    std::uint32_t bytes_min = 0;
    std::uint32_t bytes_max = 0;  // UINT32_MAX: unbounded
  };

  // A database for any CPU is what gets shipped; it was measured to be as fast as tuned ones on our rules.
  enum class Target : std::uint8_t { this_machine, any_machine };

  class Scratch {
   public:
    Scratch() = default;
    Scratch(Scratch&& other) noexcept;
    Scratch& operator=(Scratch&& other) noexcept;
    ~Scratch();

   private:
    friend class HyperscanScanner;
    void* scratch_ = nullptr;
    std::vector<std::uint64_t> served_;  // databases that it is large enough for, by HyperscanScanner::id_
  };

  // Told of each end, in no promised order. False stops the scan, which then fails.
  class Ends {
   public:
    virtual ~Ends() = default;
    virtual bool end(std::uint32_t id, std::size_t offset) noexcept = 0;
  };

  // False where this CPU lacks what Hyperscan needs.
  static bool available() noexcept;
  static std::string library_version();
  // The CPU features that a database for this machine depends on.
  static std::string machine();

  // What Hyperscan says of one pattern. RULES_INVALID with its reason.
  static Result<Widths> widths(std::string_view regex);

  // RULES_INVALID where one of them is refused (compile them alone to learn which). The list must not be empty.
  static Result<HyperscanScanner> compile(std::span<const Source> sources, Target target);

  static Result<HyperscanScanner> deserialize(std::string_view bytes);
  Result<std::string> serialize() const;

  // The database as it lies in memory once deserialized. Valid at any address that is a multiple of 64, for the same
  // library version only: from_image() checks both. `image` must outlive the prefilter, and is trusted like the program
  // that it is part of.
  Result<std::string> image() const;
  static Result<HyperscanScanner> from_image(std::string_view image, std::string_view library_version);

  HyperscanScanner(HyperscanScanner&& other) noexcept;
  HyperscanScanner& operator=(HyperscanScanner&& other) noexcept;
  ~HyperscanScanner();

  // Every end of every match. Any failure is an Error: INTERNAL, or INPUT_INVALID for texts of 4 GB and more.
  Result<void> scan(std::string_view text, Scratch& scratch, Ends& ends) const;

 private:
  HyperscanScanner(const void* database, void* owned);
  const void* database_ = nullptr;
  void* owned_ = nullptr;
  std::uint64_t id_ = 0;  // of this database and no other of this process: addresses are used again
};

}  // namespace guard
