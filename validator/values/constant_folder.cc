#include "validator/values/constant_folder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/text/base64.h"
#include "common/text/characters.h"
#include "validator/values/known_names.h"

namespace guard {
namespace {

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Reads `count` hex digits at `at`; false if they are not all there.
bool read_hex(std::string_view text, std::size_t at, std::size_t count, std::uint32_t& value) noexcept {
  if (at + count > text.size()) return false;
  value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    const int digit = hex_digit(text[i]);
    if (digit < 0) return false;
    value = value * 16 + static_cast<std::uint32_t>(digit);
  }
  return true;
}

// At the `u` of an escape. Moves `at` behind it and gives the code point; false if it is no such escape.
bool read_unicode_escape(std::string_view text, std::size_t& at, std::uint32_t& value) noexcept {
  if (at + 1 < text.size() && text[at + 1] == '{') {
    std::size_t i = at + 2;
    value = 0;
    for (; i < text.size() && text[i] != '}'; ++i) {
      const int digit = hex_digit(text[i]);
      if (digit < 0 || value > 0x10ffff) return false;
      value = value * 16 + static_cast<std::uint32_t>(digit);
    }
    if (i >= text.size() || i == at + 2 || value > 0x10ffff) return false;
    at = i + 1;
    return true;
  }
  if (!read_hex(text, at + 1, 4, value)) return false;
  at += 5;
  std::uint32_t low = 0;
  if (value >= 0xd800 && value <= 0xdbff && at + 1 < text.size() && text[at] == '\\' && text[at + 1] == 'u' &&
      read_hex(text, at + 2, 4, low) && low >= 0xdc00 && low <= 0xdfff) {
    value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
    at += 6;
  }
  return true;
}

bool decode_base64(std::string_view text, std::string& out) {
  const auto bytes = base64_decode_loosely(text);
  out += bytes.value_or("");
  return bytes.has_value();
}

bool decode_hex(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    std::uint32_t byte = 0;
    if (!read_hex(text, i, 2, byte)) return false;
    out.push_back(static_cast<char>(byte));
  }
  return true;
}

std::string decode_percent(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::uint32_t byte = 0;
    if (text[i] == '%' && read_hex(text, i + 1, 2, byte)) {
      out.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

// JavaScript's index arithmetic: negative counts from the end, all is clamped.
std::size_t clamp_index(std::int64_t index, std::size_t size) noexcept {
  if (index < 0) index += static_cast<std::int64_t>(size);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, static_cast<std::int64_t>(size)));
}

bool number_argument(std::span<const Value> args, std::size_t index, std::int64_t& number) noexcept {
  if (index >= args.size() || args[index].kind != Value::Kind::number) return false;
  number = args[index].number;
  return true;
}

bool text_argument(std::span<const Value> args, std::size_t index, std::string_view& text) noexcept {
  if (index >= args.size() || !args[index].is_text()) return false;
  text = args[index].text;
  return true;
}

Value from_char_codes(std::span<const Value> args, Arena& arena) {
  std::string out;
  for (const Value& arg : args) {
    if (arg.kind == Value::Kind::number && arg.number >= 0 && arg.number <= 0x10ffff) {
      append_utf8(static_cast<char32_t>(arg.number), out);
    } else {
      out.push_back(kWildcard);
    }
  }
  return args.empty() ? Value{} : text_value(out, arena);
}

// path.join and path.resolve. An absolute part starts anew only for resolve; keeping what stood before hides nothing
// that a rule looks for.
Value join_path(std::span<const Value> args, Arena& arena) {
  std::string out;
  bool any_text = false;
  for (const Value& arg : args) {
    if (!out.empty()) out.push_back('/');
    if (arg.is_text()) {
      any_text = true;
      out.append(arg.text);
    } else {
      out.push_back(kWildcard);
    }
    if (out.size() > kTextMax) return {};
  }
  if (!any_text) return {};
  const std::string normal = normalized_path(out);
  return text_value(normal.empty() ? out : normal, arena);
}

Value replace(const Value& receiver, std::span<const Value> args, bool all, Arena& arena) {
  std::string_view from;
  std::string_view to;
  if (!text_argument(args, 0, from) || !text_argument(args, 1, to)) return {};
  std::string out;
  std::size_t at = 0;
  while (at <= receiver.text.size()) {
    const std::size_t hit = from.empty() ? std::string_view::npos : receiver.text.find(from, at);
    if (hit == std::string_view::npos) break;
    out.append(receiver.text.substr(at, hit - at)).append(to);
    at = hit + from.size();
    if (!all || out.size() > kTextMax) break;
  }
  out.append(receiver.text.substr(at));
  return text_value(out, arena);
}

Value split(const Value& receiver, std::span<const Value> args, ValueLists& lists, Arena& arena) {
  std::string_view separator;
  if (!text_argument(args, 0, separator) || receiver.text.size() > kListMax * 8) return {};
  std::vector<Value> items;
  if (separator.empty()) {
    for (std::size_t i = 0; i < receiver.text.size() && i <= kListMax; ++i) {
      items.push_back(text_value(receiver.text.substr(i, 1), arena));
    }
  } else {
    std::size_t at = 0;
    for (;;) {
      const std::size_t hit = receiver.text.find(separator, at);
      items.push_back(text_value(receiver.text.substr(at, hit - at), arena));
      if (hit == std::string_view::npos || items.size() > kListMax) break;
      at = hit + separator.size();
    }
  }
  return make_list(std::move(items), lists);
}

Value fold_text_method(
    const Value& receiver, std::string_view method, std::span<const Value> args, ValueLists& lists, Arena& arena) {
  const std::string_view text = receiver.text;
  std::int64_t a = 0;
  std::int64_t b = 0;
  if (method == "concat") {
    Value sum = receiver;
    for (const Value& arg : args) sum = join_values(sum, arg, arena);
    return sum;
  }
  if (method == "toString") return receiver;
  if (method == "slice" || method == "substring" || method == "substr") {
    if (!number_argument(args, 0, a)) return {};
    if (args.size() > 1 && args[1].kind != Value::Kind::number) return {};
    const std::size_t begin = clamp_index(a, text.size());
    std::size_t end = text.size();
    if (number_argument(args, 1, b)) {
      end = method == "substr"
          ? clamp_index(static_cast<std::int64_t>(begin) + std::max<std::int64_t>(b, 0), text.size())
          : clamp_index(b, text.size());
    }
    return end < begin ? text_value("", arena) : text_value(text.substr(begin, end - begin), arena);
  }
  if (method == "replace" || method == "replaceAll") return replace(receiver, args, method == "replaceAll", arena);
  if (method == "split") return split(receiver, args, lists, arena);
  if (method == "toLowerCase" || method == "toLocaleLowerCase") return text_value(lower_case(text), arena);
  if (method == "toUpperCase" || method == "toLocaleUpperCase") {
    std::string out(text);
    for (char& c : out) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return text_value(out, arena);
  }
  return {};
}

Value fold_list_method(
    const Value& receiver, std::string_view method, std::span<const Value> args, ValueLists& lists, Arena& arena) {
  const std::vector<Value>& items = lists[receiver.list];
  if (method == "join") {
    std::string_view separator = ",";
    text_argument(args, 0, separator);
    Value sum = text_value("", arena);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) sum = join_values(sum, text_value(separator, arena), arena);
      sum = join_values(sum, items[i], arena);
    }
    return sum;
  }
  if (method == "reverse" || method == "toReversed") {
    std::vector<Value> reversed(items.rbegin(), items.rend());
    return make_list(std::move(reversed), lists);
  }
  if (method == "slice") {
    const auto size = static_cast<std::int64_t>(items.size());
    std::int64_t from = 0;
    std::int64_t to = size;
    number_argument(args, 0, from);
    number_argument(args, 1, to);
    from = std::clamp<std::int64_t>(from < 0 ? from + size : from, 0, size);
    to = std::clamp<std::int64_t>(to < 0 ? to + size : to, from, size);
    return make_list({items.begin() + from, items.begin() + to}, lists);
  }
  if (method == "concat") {
    std::vector<Value> all = items;
    for (const Value& arg : args) {
      if (arg.kind == Value::Kind::list) {
        all.insert(all.end(), lists[arg.list].begin(), lists[arg.list].end());
      } else {
        all.push_back(arg);
      }
      if (all.size() > kListMax) return {};
    }
    return make_list(std::move(all), lists);
  }
  return {};
}

}  // namespace

Value text_value(std::string_view text, Arena& arena) {
  Value value;
  if (text.size() > kTextMax) return value;
  value.kind = Value::Kind::text;
  value.text = arena.copy(text);
  return value;
}

Value make_list(std::vector<Value> items, ValueLists& lists) {
  Value value;
  if (items.size() > kListMax) return value;
  value.kind = Value::Kind::list;
  value.list = static_cast<std::uint32_t>(lists.size());
  lists.push_back(std::move(items));
  return value;
}

char* Arena::allocate(std::size_t size) {
  while (block_ < blocks_.size() && blocks_[block_].size - used_ < size) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    const std::size_t bytes = std::max(size, kBlockBytes);
    blocks_.push_back({std::make_unique_for_overwrite<char[]>(bytes), bytes});
    used_ = 0;
  }
  char* const place = blocks_[block_].bytes.get() + used_;
  used_ += size;
  total_ += size;
  return place;
}

std::string_view Arena::copy(std::string_view text) {
  if (text.empty()) return "";
  char* const place = allocate(text.size());
  std::memcpy(place, text.data(), text.size());
  return {place, text.size()};
}

std::string_view Arena::concat(std::string_view a, std::string_view b) {
  if (b.empty()) return a;
  if (a.empty()) return copy(b);
  if (block_ < blocks_.size()) {
    const Block& block = blocks_[block_];
    const bool last = a.data() + a.size() == block.bytes.get() + used_;
    if (last && block.size - used_ >= b.size()) {
      std::memcpy(block.bytes.get() + used_, b.data(), b.size());
      used_ += b.size();
      total_ += b.size();
      return {a.data(), a.size() + b.size()};
    }
  }
  char* const place = allocate(a.size() + b.size());
  std::memcpy(place, a.data(), a.size());
  std::memcpy(place + a.size(), b.data(), b.size());
  return {place, a.size() + b.size()};
}

void Arena::clear() noexcept {
  block_ = 0;
  used_ = 0;
  total_ = 0;
}

std::string decode_escapes(std::string_view inner) {
  std::string out;
  out.reserve(inner.size());
  std::size_t at = 0;
  while (at < inner.size()) {
    const char c = inner[at];
    if (c != '\\' || at + 1 >= inner.size()) {
      out.push_back(c);
      ++at;
      continue;
    }
    const char kind = inner[++at];
    std::uint32_t value = 0;
    constexpr std::string_view kNames = "ntrbfv";
    if (const std::size_t simple = kNames.find(kind); simple != std::string_view::npos) {
      out.push_back("\n\t\r\b\f\v"[simple]);
      ++at;
      continue;
    }
    switch (kind) {
      case '\r':  // a line continuation is nothing
        at += at + 1 < inner.size() && inner[at + 1] == '\n' ? 2 : 1;
        break;
      case '\n': ++at; break;
      case 'x':
        if (read_hex(inner, at + 1, 2, value)) {
          append_utf8(value, out);
          at += 3;
        } else {
          out.push_back(kind);
          ++at;
        }
        break;
      case 'u':
        if (read_unicode_escape(inner, at, value)) {
          append_utf8(value, out);
        } else {
          out.push_back(kind);
          ++at;
        }
        break;
      default:
        if (kind >= '0' && kind <= '7') {
          for (int digits = 0; digits < 3 && at < inner.size() && inner[at] >= '0' && inner[at] <= '7';
               ++digits, ++at) {
            const std::uint32_t next = value * 8 + static_cast<std::uint32_t>(inner[at] - '0');
            if (next > 0xff) break;
            value = next;
          }
          append_utf8(value, out);
        } else if (inner.compare(at, 3, "\xe2\x80\xa8") == 0 || inner.compare(at, 3, "\xe2\x80\xa9") == 0) {
          at += 3;
        } else {
          out.push_back(kind);
          ++at;
        }
    }
  }
  return out;
}

std::string decode_identifier(std::string_view word) {
  std::string out;
  std::size_t at = 0;
  while (at < word.size()) {
    std::uint32_t value = 0;
    std::size_t next = at + 1;
    if (word[at] == '\\' && next < word.size() && word[next] == 'u' && read_unicode_escape(word, next, value)) {
      append_utf8(value, out);
      at = next;
    } else {
      out.push_back(word[at]);
      ++at;
    }
  }
  return out;
}

Value number_value(std::string_view literal) {
  Value value;
  std::int64_t number = 0;
  std::int64_t base = 10;
  std::size_t at = 0;
  if (literal.size() > 2 && literal[0] == '0') {
    const char kind = static_cast<char>(literal[1] | 0x20);
    base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    if (base != 10) at = 2;
  }
  for (; at < literal.size(); ++at) {
    if (literal[at] == '_') continue;
    if (literal[at] == '.' && at + 1 == literal.size()) break;
    const int digit = hex_digit(literal[at]);
    if (digit < 0 || digit >= base || number > (INT64_MAX >> 8)) return value;
    number = number * base + digit;
  }
  value.kind = Value::Kind::number;
  value.number = number;
  return value;
}

Value join_values(const Value& a, const Value& b, Arena& arena) {
  Value sum;
  sum.begin = a.begin;
  sum.end = b.end;
  if (!a.is_text() && !b.is_text()) return sum;
  const auto as_text = [](const Value& value) -> std::string {
    if (value.is_text()) return std::string(value.text);
    if (value.kind == Value::Kind::number) return std::to_string(value.number);
    return std::string(1, kWildcard);
  };
  const std::string_view left = a.is_text() ? a.text : arena.copy(as_text(a));
  if (b.is_text()) {
    if (left.size() + b.text.size() > kTextMax) return sum;
    sum.text = arena.concat(left, b.text);
  } else {
    const std::string right = as_text(b);
    if (left.size() + right.size() > kTextMax) return sum;
    sum.text = arena.concat(left, right);
  }
  sum.kind = Value::Kind::text;
  return sum;
}

Value fold_function(std::string_view callee, std::span<const Value> args, ValueLists& lists, Arena& arena) {
  const std::string_view name = last_name(callee);
  std::string_view text;
  const bool has_text = text_argument(args, 0, text);
  if (name == "join" || name == "resolve" || name == "normalize") return join_path(args, arena);
  // As a shell would spell them.
  if (callee == "process.cwd" && args.empty()) return text_value(".", arena);
  if (callee == "os.homedir" && args.empty()) return text_value("~", arena);
  if (name == "fromCharCode" || name == "fromCodePoint") return from_char_codes(args, arena);
  if (!has_text) {
    // Buffer.from([46, 101]) and new Uint8Array([..]): bytes as a list of numbers.
    const bool bytes =
        callee == "Buffer.from" || name == "Uint8Array" || callee == "Uint8Array.from" || callee == "Array.from";
    if (bytes && !args.empty() && args[0].kind == Value::Kind::list) return args[0];
    if (name == "decode" && !args.empty() && args[0].kind == Value::Kind::list) {
      return from_char_codes(lists[args[0].list], arena);
    }
    return {};
  }
  std::string_view base;
  if (name == "URL" && text_argument(args, 1, base) && base.substr(0, 5) == "file:" &&
      text.find(':') == std::string_view::npos) {
    const std::size_t slash = base.rfind('/');
    return text_value(
        std::string(text.substr(0, 1) == "/" ? "file://" : base.substr(0, slash + 1)) + std::string(text), arena);
  }
  if (name == "URL" && text.substr(0, 5) == "file:" && text.find('%') != std::string_view::npos) {
    return text_value(decode_percent(text), arena);
  }
  if (name == "String" || name == "URL" || name == "fileURLToPath" || name == "pathToFileURL" ||
      name == "toNamespacedPath" || name == "encodeURIComponent" || name == "encodeURI" || name == "decode" ||
      name == "encode") {
    return args[0];
  }
  if (name == "atob") {
    std::string out;
    return decode_base64(text, out) ? text_value(out, arena) : Value{};
  }
  if (name == "decodeURIComponent" || name == "decodeURI" || name == "unescape")
    return text_value(decode_percent(text), arena);
  if (callee == "Buffer.from" || callee == "Uint8Array.fromBase64" || callee == "Uint8Array.fromHex") {
    std::string_view coding = name == "fromBase64" ? "base64" : name == "fromHex" ? "hex" : "utf8";
    text_argument(args, 1, coding);
    std::string out;
    if (coding == "hex") return decode_hex(text, out) ? text_value(out, arena) : Value{};
    if (coding == "base64" || coding == "base64url") return decode_base64(text, out) ? text_value(out, arena) : Value{};
    return args[0];
  }
  return {};
}

Value fold_method(
    const Value& receiver, std::string_view method, std::span<const Value> args, ValueLists& lists, Arena& arena) {
  if (receiver.is_text()) return fold_text_method(receiver, method, args, lists, arena);
  if (receiver.kind == Value::Kind::list) {
    if (method == "toString" && args.size() <= 1) {  // of a Buffer
      const std::vector<Value> items = lists[receiver.list];
      return from_char_codes(items, arena);
    }
    return fold_list_method(receiver, method, args, lists, arena);
  }
  return {};
}

std::string decoded_text(std::string_view text) {
  constexpr std::size_t kShortest = 8;
  constexpr std::size_t kLongest = 512;
  if (text.size() < kShortest || text.size() > kLongest) return {};
  const bool hex =
      text.size() % 2 == 0 && std::all_of(text.begin(), text.end(), [](char c) { return hex_digit(c) >= 0; });
  const std::string_view body = text.substr(0, text.find_last_not_of('=') + 1);
  const bool base64 = body.size() % 4 != 1 && std::none_of(body.begin(), body.end(), [](char c) {
    return c == '=' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
  });
  if (!hex && !base64) return {};
  const auto is_plain = [](const std::string& out) {
    return !out.empty() && std::all_of(out.begin(), out.end(), [](char c) { return c >= ' ' && c <= '~'; });
  };
  std::string out;
  if (hex && decode_hex(text, out) && is_plain(out)) return out;
  out.clear();
  return base64 && decode_base64(text, out) && is_plain(out) ? out : std::string();
}

std::string normalized_path(std::string_view path) {
  // A link of every Linux; what lies above it is not /dev.
  constexpr std::string_view kDescriptors = "/dev/fd/";
  if (path.substr(0, kDescriptors.size()) == kDescriptors) {
    const std::string real = "/proc/self/fd/" + std::string(path.substr(kDescriptors.size()));
    const std::string clean = normalized_path(real);
    return clean.empty() ? real : clean;
  }
  const bool clean = path.find("//") == std::string_view::npos && path.find("/.") == std::string_view::npos &&
      path.substr(0, 2) != "./";
  if (clean || path.size() > kTextMax) return {};
  std::vector<std::string_view> segments;
  const bool absolute = path.front() == '/';
  std::size_t at = 0;
  while (at <= path.size()) {
    std::size_t end = path.find('/', at);
    if (end == std::string_view::npos) end = path.size();
    const std::string_view segment = path.substr(at, end - at);
    if (segment == ".." && !segments.empty() && segments.back() != "..") {
      segments.pop_back();
    } else if (!segment.empty() && segment != "." && !(segment == ".." && absolute)) {
      segments.push_back(segment);
    }
    at = end + 1;
  }
  std::string out;
  for (const std::string_view segment : segments) {
    if (!out.empty() || absolute) out.push_back('/');
    out.append(segment);
  }
  return out == path ? std::string() : out;
}

std::string shell_reading(std::string_view text) {
  const auto has = [text](const auto& sign) { return text.find(sign) != std::string_view::npos; };
  if (text.size() > kTextMax || !(has('\\') || has('\'') || has('"') || has("$IFS") || has("${IFS"))) return {};
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.compare(at, 5, "${IFS") == 0) {
      const std::size_t end = text.find('}', at);
      out.push_back(' ');
      at = end == std::string_view::npos ? at + 4 : end;
    } else if (text.compare(at, 4, "$IFS") == 0) {
      out.push_back(' ');
      at += 3;
      if (at + 2 < text.size() && text[at + 1] == '$' && text[at + 2] >= '0' && text[at + 2] <= '9') at += 2;  // $IFS$9
    } else if (text[at] != '\\' && text[at] != '\'' && text[at] != '"') {
      out.push_back(text[at]);
    }
  }
  return out == text ? std::string() : out;
}

}  // namespace guard
