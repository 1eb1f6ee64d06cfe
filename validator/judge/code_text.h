// The code view of one file (validator/views/source_view.h) as a reader walks through it: the names in it and where
// they stand, and its brackets with their partners. Indexed once; each question then takes logarithmic time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace guard {

template <typename List>
bool is_one_of(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

class CodeText {
 public:
  enum class Brace { block, class_body, other };
  static constexpr std::size_t kNowhere = std::string_view::npos;

  // `code` must outlive this.
  explicit CodeText(std::string_view code);

  std::string_view text() const noexcept { return code_; }
  char at(std::size_t at) const noexcept { return at < code_.size() ? code_[at] : '\0'; }
  std::string_view ahead_of(std::size_t at) const noexcept { return code_.substr(0, at); }
  std::string_view behind(std::size_t at) const noexcept { return code_.substr(std::min(at, code_.size())); }

  // The name that begins at `at`, or that ends in front of it; empty where there is none.
  std::string_view name_at(std::size_t at) const noexcept;
  std::string_view name_before(std::size_t at) const noexcept;
  // a.b.c in front of `at`.
  std::string_view chain_before(std::size_t at) const noexcept;
  // "let" of `let a`, of a name that begins at `at`.
  std::string_view keyword_before(std::size_t at) const noexcept;
  // All names, in order, and the places of one.
  const std::vector<std::string_view>& names() const noexcept { return names_; }
  const std::vector<std::size_t>& places_of(std::string_view name) const;
  std::size_t place_of(std::string_view part) const noexcept {
    return static_cast<std::size_t>(part.data() - code_.data());
  }

  // The other bracket of the pair of which one stands at `at`; kNowhere: it has none.
  std::size_t partner(std::size_t at) const;
  // The bracket that is open at `at`, and the `{`; or kNowhere.
  std::size_t enclosing(std::size_t at) const;
  std::size_t enclosing_brace(std::size_t at) const;
  // The last backtick before `at`, or kNowhere.
  std::size_t backtick_before(std::size_t at) const;

  // What the `{` at `brace` opens: statements, members, or an object or pattern.
  Brace kind_of(std::size_t brace) const { return from(brace)->kind; }
  // The `)` before a body, or before the type that stands between: f():Promise<string>{
  std::size_t parameters_end(std::size_t brace) const { return from(brace)->parameters; }

 private:
  struct Bracket {
    std::size_t at;
    std::size_t partner;  // indexes into brackets_
    std::size_t outer;
    std::size_t brace;  // of an opening one: the innermost `{`, itself included
    Brace kind;         // of a `{`, as the next
    std::size_t parameters;
  };
  // The first bracket that does not stand before `at`.
  std::vector<Bracket>::const_iterator from(std::size_t at) const {
    return std::lower_bound(brackets_.begin(), brackets_.end(), at,
        [](const Bracket& known, std::size_t wanted) { return known.at < wanted; });
  }
  std::size_t find_parameters_end(std::size_t brace) const;
  Brace find_kind(std::size_t brace, std::size_t parameters) const;
  // The last bracket that is open at `at`, as an index.
  std::size_t open_at(std::size_t at) const;
  std::size_t place(std::size_t bracket) const { return bracket == kNowhere ? kNowhere : brackets_[bracket].at; }

  std::string_view code_;
  std::vector<std::string_view> names_;
  mutable std::unordered_map<std::string_view, std::vector<std::size_t>> places_;  // filled when first needed
  std::vector<Bracket> brackets_;                                                  // in order of `at`
  std::vector<std::size_t> backticks_;
};

// "if", "else", "try" and the others whose block is no function's.
bool is_branch(std::string_view word) noexcept;

// Does what stands behind a name give it a value: = but not == or =>?
inline bool assigns(std::string_view rest) noexcept {
  return rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>");
}

// Is the value that ends here compared, or asked whether it is there?
bool is_asked(std::string_view rest) noexcept;

// Of a few bytes: find() would call the C library for each.
constexpr bool is_byte_of(std::string_view bytes, char c) noexcept {
  return std::any_of(bytes.begin(), bytes.end(), [c](char byte) { return byte == c; });
}
constexpr bool is_opening(char c) noexcept { return c == '(' || c == '[' || c == '{'; }
constexpr bool is_closing(char c) noexcept { return c == ')' || c == ']' || c == '}'; }

}  // namespace guard
