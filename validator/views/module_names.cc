// How it works. The tokens of JavaScript are those of JSON, too: strings are taken with the keys above them. No tree is
// built and nothing is refused: tsconfig.json has comments and trailing commas, and a name too many only means that
// more files are judged together.
#include "validator/views/module_names.h"

#include <algorithm>

#include "validator/lex/js_lexer.h"
#include "validator/values/constant_folder.h"

namespace guard {
namespace {

constexpr std::size_t kDepthMax = 64;

// The strings of a JSON text that are values, with the keys above them.
class JsonStrings {
 public:
  explicit JsonStrings(std::string_view text) : text_(text) { lex(text, Markup::no, lexed_); }

  // Another string that is a value; false at the end.
  bool next() {
    while (at_ < lexed_.tokens.size()) {
      const Token& token = lexed_.tokens[at_++];
      const char first = text_[token.begin];
      if (first == '{' && keys_.size() < kDepthMax) keys_.emplace_back();
      if (first == '}' && !keys_.empty()) keys_.pop_back();
      if (token.kind != TokenKind::string) continue;
      std::string string = decode_escapes(text_.substr(token.begin + 1, token.end - token.begin - 2));
      const bool is_key = at_ < lexed_.tokens.size() && text_[lexed_.tokens[at_].begin] == ':';
      if (!is_key) {
        value = std::move(string);
        return true;
      }
      if (!keys_.empty()) keys_.back() = std::move(string);
    }
    return false;
  }

  std::size_t depth() const noexcept { return keys_.size(); }
  std::string_view key(std::size_t depth) const noexcept {
    return depth < keys_.size() ? keys_[depth] : std::string_view();
  }

  std::string value;

 private:
  std::string_view text_;
  LexedText lexed_;
  std::size_t at_ = 0;
  std::vector<std::string> keys_;  // one for each open object
};

std::string_view folder_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

class Reader {
 public:
  Reader(std::string_view path, std::vector<ModuleName>& names) : folder_(folder_of(path)), names_(names) {}

  void read_package(std::string_view text) {
    ModuleName package;
    package.folder = folder_;
    std::vector<ModuleName> inside;
    for (JsonStrings strings(text); strings.next();) {
      const std::string_view top = strings.key(0);
      if (strings.depth() == 1 && top == "name") package.name = strings.value;
      if (top == "imports") add(inside, std::string(strings.key(1)), strings.value);
      if (top == "exports" && strings.key(1).starts_with("./")) add(inside, std::string(strings.key(1)), strings.value);
      const bool entry = top == "main" || top == "module" || top == "source" || top == "browser" || top == "bun" ||
          (top == "exports" && !strings.key(1).starts_with("./"));
      if (entry) package.targets.push_back(joined_path(folder_, strings.value));
    }
    for (ModuleName& name : inside) {
      if (name.name.starts_with("./")) name.name = package.name + name.name.substr(1);
      if (name.name.starts_with('#') || !package.name.empty()) names_.push_back(std::move(name));
    }
    if (package.name.empty()) return;
    for (const char* index : {"index", "src/index", "lib/index", "src/main", "src/mod", "mod"})
      package.targets.push_back(joined_path(folder_, index));
    names_.push_back(package);
    names_.push_back({package.name + "/*",
        {joined_path(folder_, "*"), joined_path(folder_, "src/*"), joined_path(folder_, "lib/*")}, package.folder});
  }

  std::vector<std::string> read_compiler(std::string_view text) {
    std::vector<std::string> extended;
    std::vector<ModuleName> aliases;
    std::string base;
    for (JsonStrings strings(text); strings.next();) {
      if (strings.key(0) == "extends" && strings.value.starts_with('.'))
        extended.push_back(joined_path(folder_, strings.value));
      if (strings.key(0) != "compilerOptions") continue;
      if (strings.depth() == 2 && strings.key(1) == "baseUrl") base = strings.value;
      if (strings.key(1) == "paths") aliases.push_back({std::string(strings.key(2)), {strings.value}, {}});
    }
    const std::string from = joined_path(folder_, base);
    for (ModuleName& alias : aliases) {
      alias.targets.front() = joined_path(from, alias.targets.front());
      names_.push_back(std::move(alias));
    }
    if (!base.empty()) names_.push_back({"*", {joined_path(from, "*")}, {}});
    for (std::string& path : extended) {
      if (!path.ends_with(".json")) path += ".json";
    }
    return extended;
  }

 private:
  void add(std::vector<ModuleName>& names, const std::string& name, const std::string& target) const {
    names.push_back({name, {joined_path(folder_, target)}, folder_});
  }

  std::string folder_;
  std::vector<ModuleName>& names_;
};

}  // namespace

bool tells_module_names(std::string_view file_name) noexcept {
  return file_name == "package.json" || file_name == "tsconfig.json" || file_name == "jsconfig.json";
}

std::vector<std::string> add_module_names(
    std::string_view path, std::string_view text, std::vector<ModuleName>& names) {
  Reader reader(path, names);
  if (!path.ends_with("package.json")) return reader.read_compiler(text);
  reader.read_package(text);
  return {};
}

std::string normal_path(std::string_view path) {
  std::vector<std::string_view> parts;
  const bool absolute = path.starts_with('/');
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (part != ".." || !absolute) {
      parts.push_back(part);
    }
  }
  std::string normal = absolute ? "/" : "";
  for (const std::string_view part : parts) {
    if (!normal.empty() && normal.back() != '/') normal += '/';
    normal += part;
  }
  return normal;
}

std::string joined_path(std::string_view folder, std::string_view name) {
  if (folder.empty() || name.starts_with('/')) return normal_path(name);
  std::string path(folder);
  path += '/';
  path += name;
  return normal_path(path);
}

}  // namespace guard
