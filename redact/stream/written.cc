#include "redact/stream/written.h"

namespace guard {
namespace {

constexpr Written kUndecided{Written::Is::undecided, 0, 0};
constexpr std::size_t kEscapingMax = 4;  // backslashes, or percent signs that were escaped: text inside of text
constexpr std::size_t kZerosMax = 6;

unsigned digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? static_cast<unsigned>(lower - 'a') + 10 : 16;
}

class Reader {
 public:
  Reader(std::string_view text, bool ended) : text_(text), ended_(ended) {}

  bool take(std::string_view sign) {
    const std::string_view rest = text_.substr(at_);
    if (rest.size() < sign.size() && sign.starts_with(rest)) cut_ = true;
    if (!rest.starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  // A number of `min` to `max` digits.
  bool number(unsigned base, std::size_t min, std::size_t max) {
    value_ = 0;
    std::size_t size = 0;
    while (size < max && at_ < text_.size() && digit_of(text_[at_]) < base) {
      value_ = value_ * base + digit_of(text_[at_++]);
      ++size;
    }
    if (size < max && at_ == text_.size()) cut_ = true;
    return size >= min;
  }
  // Bytes of more than 0x7f only where the number is one of a byte, not of a character.
  Written result(bool read, unsigned max) const {
    if (cut_ && !ended_) return kUndecided;
    if (!read || value_ < ' ' || value_ == 0x7f || value_ > max) return {};
    return {Written::Is::yes, at_, static_cast<char>(value_)};
  }

 private:
  std::string_view text_;
  bool ended_;
  bool cut_ = false;
  std::size_t at_ = 0;
  unsigned value_ = 0;
};

constexpr unsigned kAscii = 0x7e;
constexpr unsigned kByte = 0xff;

Written entity_at(Reader reader) {
  if (!reader.take("&#")) return reader.result(false, 0);
  const bool hex = reader.take("x") || reader.take("X");
  const bool read = reader.number(hex ? 16 : 10, 1, kZerosMax + 3);
  if (read) reader.take(";");
  return reader.result(read, kAscii);
}

Written percent_at(Reader reader) {
  reader.take("%");
  for (std::size_t i = 0; i < kEscapingMax && reader.take("25"); ++i) {
  }
  if (reader.take("u")) return reader.result(reader.number(16, 4, 4), kAscii);
  return reader.result(reader.number(16, 2, 2), kByte);
}

Written backslash_at(Reader reader) {
  for (std::size_t i = 0; i < kEscapingMax && reader.take("\\"); ++i) {
  }
  if (reader.take("x")) return reader.result(reader.number(16, 2, 2), kByte);
  if (reader.take("U")) return reader.result(reader.number(16, 8, 8), kAscii);
  if (reader.take("u{")) {
    const bool read = reader.number(16, 1, kZerosMax + 2);
    return reader.result(read && reader.take("}"), kAscii);
  }
  if (reader.take("u")) return reader.result(reader.number(16, 4, 4), kAscii);
  return reader.result(reader.number(8, 3, 3), kByte);
}

}  // namespace

Written written_at(std::string_view text, bool ended) {
  const Reader reader(text, ended);
  return text.front() == '&' ? entity_at(reader) : text.front() == '%' ? percent_at(reader) : backslash_at(reader);
}

}  // namespace guard
