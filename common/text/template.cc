#include "common/text/template.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace guard {
namespace {

using Json = nlohmann::ordered_json;

struct Node {
  char kind = 0;  // 0: text; else the mark of its tag: ' ', '{', '&', '#', '^'
  std::string_view text;
  std::vector<Node> inner;
};

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t") == std::string_view::npos; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // Up to the tag that closes the section.
  std::vector<Node> read() {
    std::vector<Node> nodes;
    for (;;) {
      const std::size_t open = text_.find("{{", at_);
      const std::size_t end = open == std::string_view::npos ? open : text_.find("}}", open);
      if (end == std::string_view::npos) {
        nodes.push_back({0, text_.substr(at_), {}});
        at_ = text_.size();
        return nodes;
      }
      std::size_t begin = open + 2;
      const char mark = text_[begin];
      const bool is_plain = std::string_view("{&#^/!").find(mark) == std::string_view::npos;
      if (!is_plain) ++begin;
      std::string_view before = text_.substr(at_, open - at_);
      at_ = std::min(text_.size(), end + (mark == '{' ? 3 : 2));
      if (std::string_view("#^/!").find(mark) != std::string_view::npos) take_line(open, before);
      nodes.push_back({0, before, {}});
      if (mark == '/') return nodes;
      if (mark == '!') continue;
      Node node{is_plain ? ' ' : mark, text_.substr(begin, end - begin), {}};
      if (mark == '#' || mark == '^') node.inner = read();
      nodes.push_back(std::move(node));
    }
  }

 private:
  // Where the tag from `open` to at_ stands alone on its line: without that line.
  void take_line(std::size_t open, std::string_view& before) {
    const std::size_t begin = open == 0 ? 0 : text_.rfind('\n', open - 1) + 1;  // npos + 1: 0
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos || !is_blank(text_.substr(begin, open - begin)) ||
        !is_blank(text_.substr(at_, end - at_)))
      return;
    before.remove_suffix(open - begin);
    at_ = end + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class Writer {
 public:
  explicit Writer(const TemplateEscapes& escapes) : escapes_(escapes) {}

  void write(const std::vector<Node>& nodes, const Json& item) {
    items_.push_back(&item);
    for (const Node& node : nodes) write(node);
    items_.pop_back();
  }

  std::string out;

 private:
  const Json& find(std::string_view name) const {
    static const Json kNone;
    if (name == ".") return *items_.back();
    for (std::size_t i = items_.size(); i > 0; --i) {
      if (!items_[i - 1]->is_object()) continue;
      if (const auto found = items_[i - 1]->find(std::string(name)); found != items_[i - 1]->end()) return *found;
    }
    return kNone;
  }

  static bool holds_something(const Json& value) {
    if (value.is_string()) return !value.get_ref<const std::string&>().empty();
    return value.is_number() ? value != 0 : value.is_boolean() ? value.get<bool>() : !value.empty();
  }

  void write(const Node& node) {
    if (node.kind == 0) {
      out += node.text;
      return;
    }
    const Json& value = find(node.text);
    if (node.kind == '#' && value.is_array()) {
      for (const Json& item : value) write(node.inner, item);
    } else if (node.kind == '#' || node.kind == '^') {
      if (holds_something(value) == (node.kind == '#')) write(node.inner, value);
    } else if (!value.is_null()) {
      const std::string text = value.is_string() ? value.get_ref<const std::string&>() : value.dump();
      const auto escape = node.kind == '{' ? escapes_.block : node.kind == ' ' ? escapes_.line : nullptr;
      out += escape == nullptr ? text : escape(text);
    }
  }

  const TemplateEscapes& escapes_;
  std::vector<const Json*> items_;
};

}  // namespace

std::string fill_template(std::string_view text, const Json& values, const TemplateEscapes& escapes) {
  Writer writer(escapes);
  writer.write(Reader(text).read(), values);
  return std::move(writer.out);
}

}  // namespace guard
