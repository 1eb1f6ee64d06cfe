#include "validator/values/fold_json.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace guard {
namespace {

constexpr int kDepthMax = 16;

class JsonReader {
 public:
  JsonReader(std::string_view text, ValueLists& lists, Arena& arena) : text_(text), lists_(lists), arena_(arena) {}

  Value read() {
    const Value value = read_value(0);
    skip_blanks();
    return failed_ || at_ != text_.size() ? Value{} : value;
  }

 private:
  Value read_value(int depth) {
    skip_blanks();
    if (at_ >= text_.size() || depth > kDepthMax) return fail();
    switch (text_[at_]) {
      case '"': return read_text();
      case '[':
      case '{': return read_group(depth);
      default: return read_plain();
    }
  }

  Value read_text() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return fail();
    Value value;
    value.kind = Value::Kind::text;
    const std::string_view inner = text_.substr(begin, at_ - begin);
    value.text = inner.find('\\') == std::string_view::npos ? arena_.copy(inner) : arena_.copy(decode_escapes(inner));
    ++at_;
    return value;
  }

  // [ value, .. ] or { "key": value, .. }
  Value read_group(int depth) {
    const bool object = text_[at_++] == '{';
    const char close = object ? '}' : ']';
    std::vector<Value> items;
    skip_blanks();
    bool more = at_ < text_.size() && text_[at_] != close;
    while (more && !failed_) {
      if (object) {
        skip_blanks();
        if (at_ >= text_.size() || text_[at_] != '"') return fail();
        items.push_back(read_text());
        if (!take(':')) return fail();
      }
      items.push_back(read_value(depth + 1));
      more = take(',');
    }
    if (failed_ || !take(close)) return fail();
    if (items.size() > kListMax) return {};
    Value value;
    value.kind = object ? Value::Kind::object : Value::Kind::list;
    value.list = static_cast<std::uint32_t>(lists_.size());
    lists_.push_back(std::move(items));
    return value;
  }

  // A number, or a word; an unknown part of the text is taken for one.
  Value read_plain() {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n,:]}\"[{", at_), text_.size());
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return fail();
    const bool digits = std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
    return digits ? number_value(word) : Value{};
  }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  Value fail() {
    failed_ = true;
    return {};
  }

  std::string_view text_;
  ValueLists& lists_;
  Arena& arena_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

Value parse_json_value(std::string_view text, ValueLists& lists, Arena& arena) {
  if (text.size() > kTextMax) return {};
  return JsonReader(text, lists, arena).read();
}

}  // namespace guard
