// How it works. Files are found by their stem, the path without its ending. A name is resolved against the folder of
// the file that it stands in; one that no path says (an alias of tsconfig.json, `#name`) by its end. Folders and ends
// are nodes of their own, so that a name which many files fit costs one edge. Groups are the strongly connected
// components (Tarjan), which come out in the order that is needed.
#include "validator/judge/import_graph.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

namespace guard {
namespace {

constexpr char kUnknown = '\x1a';

std::string_view folder_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view base_of(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

std::string_view stem_of(std::string_view path) noexcept {
  static constexpr std::array<std::string_view, 10> kEndings = {
      ".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs", ".json", ".vue"};
  for (const std::string_view ending : kEndings) {
    if (path.ends_with(ending)) return path.substr(0, path.size() - ending.size());
  }
  return path;
}

// "./%62" -> "./b"; a name is read as an address of a file where it may be one.
std::string decoded(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    unsigned code = 0;
    const char* const digits = name.data() + i + 1;
    if (name[i] == '%' && i + 2 < name.size() && std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
      text += static_cast<char>(code);
      i += 2;
    } else {
      text += name[i];
    }
  }
  return text;
}

class Graph {
 public:
  Graph(const std::vector<LoadingFile>& files, const ModuleNames& modules)
      : files_(files), edges_(files.size()), stems_(files.size()) {
    for (std::uint32_t i = 0; i < files.size(); ++i) {
      stems_[i] = joined_path(modules.root, stem_of(files[i].path));
      by_stem_[stems_[i]].push_back(i);
      bases_.insert(base_of(stems_[i]));
      if (base_of(stems_[i]) != "index") continue;
      by_stem_[std::string(folder_of(stems_[i]))].push_back(i);
      bases_.insert(base_of(folder_of(stems_[i])));
    }
    for (const ModuleName& module : modules.names) {
      if (module.name.find('*') != std::string::npos) {
        patterns_.push_back(&module);
        continue;
      }
      by_name_[module.name].push_back(&module);
      if (!module.folder.empty()) by_folder_[module.folder].push_back(&module);
    }
    for (std::uint32_t i = 0; i < files.size(); ++i) {
      for (const FileLoad& load : *files[i].loads) link(i, decoded(load.name));
    }
    fill_ends();
    fill_folders();
  }

  std::vector<FileGroup> groups() {
    index_.assign(edges_.size(), 0);
    low_.assign(edges_.size(), 0);
    group_of_.assign(edges_.size(), kNone);
    for (std::uint32_t node = 0; node < edges_.size(); ++node) {
      if (index_[node] == 0) visit(node);
    }
    return std::move(groups_);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  void link(std::uint32_t from, std::string_view name) {
    const std::string_view folder = folder_of(stems_[from]);
    if (name.starts_with("file:")) name.remove_prefix(name.starts_with("file://") ? 7 : 5);
    name = name.substr(0, std::min(name.find('?'), name.find('#', 1)));
    bool rooted = name.starts_with('.') || name.starts_with('/');
    std::string_view end;
    if (name.size() > 2 && name[0] == kUnknown && name[1] == '/') {  // import.meta.dir, or any other folder
      name.remove_prefix(2);
      rooted = true;
      end = name;
    } else if (name.starts_with("@/") || name.starts_with("~/") || name.starts_with('#') || name.starts_with('$') ||
        name.starts_with('~')) {
      const std::size_t skipped = name.find_first_not_of("@~#$/");
      end = skipped == std::string_view::npos ? std::string_view() : name.substr(skipped);
    }
    const std::size_t unknown = name.find_first_of("\x1a*{");
    if (unknown != std::string_view::npos) {
      const std::size_t slash = name.substr(0, unknown).rfind('/');
      const bool in_folder = rooted && slash != std::string_view::npos;
      add_edge(from, folder_node(in_folder ? joined_path(folder, name.substr(0, slash)) : std::string()));
      return;
    }
    if (rooted) {
      const std::string path = joined_path(folder, name);
      link_stem(from, path);
      link_package(from, path);
    }
    if (!end.empty() && !end.starts_with('.')) add_edge(from, end_node(normal_path(stem_of(end))));
    if (name.starts_with('.') || name.starts_with('/')) return;
    link_module(from, name);
    if (!end.empty() || bases_.count(base_of(stem_of(name))) == 0) return;
    // A folder above may be the base of names.
    for (std::string_view base = folder;; base = folder_of(base)) {
      link_stem(from, joined_path(base, name));
      link_stem(from, joined_path(base, "src/" + std::string(name)));
      if (base.empty()) break;
    }
  }

  // A name that package.json or tsconfig.json gives to files.
  void link_module(std::uint32_t from, std::string_view name) {
    const std::size_t before = edges_[from].size();
    std::vector<const ModuleName*> meant;
    if (const auto named = by_name_.find(name); named != by_name_.end()) {
      for (const ModuleName* module : named->second) link_targets(from, *module, {});
      meant = named->second;
    }
    for (const ModuleName* module : patterns_) {
      const std::string_view pattern = module->name;
      const std::size_t star = pattern.find('*');
      const std::string_view head = pattern.substr(0, star);
      const std::string_view tail = pattern.substr(star + 1);
      if (name.size() < head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) continue;
      link_targets(from, *module, name.substr(head.size(), name.size() - head.size() - tail.size()));
      meant.push_back(module);
    }
    if (edges_[from].size() == before) link_folders(from, meant);
  }

  void link_targets(std::uint32_t from, const ModuleName& module, std::string_view rest) {
    for (const std::string& target : module.targets) {
      std::string path = target;
      if (const std::size_t star = path.find('*'); star != std::string::npos)
        path = normal_path(path.replace(star, 1, rest));
      link_stem(from, path);
    }
  }

  // What is built from any files of a package, say.
  void link_folders(std::uint32_t from, const std::vector<const ModuleName*>& modules) {
    for (const ModuleName* module : modules) {
      if (!module->folder.empty()) add_edge(from, folder_node(module->folder));
    }
  }

  // A package that is named by its folder.
  void link_package(std::uint32_t from, const std::string& path) {
    const auto found = by_folder_.find(path);
    if (found == by_folder_.end()) return;
    const std::size_t before = edges_[from].size();
    for (const ModuleName* module : found->second) link_targets(from, *module, {});
    if (edges_[from].size() == before) link_folders(from, found->second);
  }

  void add_edge(std::uint32_t from, std::uint32_t to) { edges_[from].push_back(to); }

  void link_stem(std::uint32_t from, const std::string& path) {
    const auto found = by_stem_.find(std::string(stem_of(path)));
    if (found != by_stem_.end()) edges_[from].insert(edges_[from].end(), found->second.begin(), found->second.end());
  }

  std::uint32_t node(std::unordered_map<std::string, std::uint32_t>& nodes, std::string name) {
    const auto [found, fresh] = nodes.try_emplace(std::move(name), static_cast<std::uint32_t>(edges_.size()));
    if (fresh) edges_.emplace_back();
    return found->second;
  }
  std::uint32_t folder_node(std::string path) { return node(folders_, std::move(path)); }
  std::uint32_t end_node(std::string end) { return node(ends_, std::move(end)); }

  // Every end of a stem that somebody asked for leads to its file.
  void fill_ends() {
    if (ends_.empty()) return;
    for (const auto& [stem, files] : by_stem_) {
      for (std::size_t at = 0; at != std::string::npos; at = stem.find('/', at + 1)) {
        const auto found = ends_.find(stem.substr(at == 0 && stem[0] != '/' ? 0 : at + 1));
        if (found != ends_.end()) edges_[found->second].insert(edges_[found->second].end(), files.begin(), files.end());
      }
    }
  }

  // Every folder that somebody asked for leads to all files below that have something to offer.
  void fill_folders() {
    if (folders_.empty()) return;
    std::unordered_set<std::string> filled;
    for (std::uint32_t i = 0; i < files_.size(); ++i) {
      if (!files_[i].exports) continue;
      std::uint32_t below = i;
      for (std::string path(folder_of(stems_[i]));; path = folder_of(path)) {
        const bool leads_up = !filled.insert(path).second;
        const std::uint32_t at = folder_node(path);
        edges_[at].push_back(below);
        if (leads_up || path.empty()) break;
        below = at;
      }
    }
  }

  // Tarjan's algorithm without recursion: a chain of imports may be as long as there are files.
  void visit(std::uint32_t first) {
    std::vector<std::pair<std::uint32_t, std::size_t>> calls = {{first, 0}};
    enter(first);
    while (!calls.empty()) {
      auto& [at, next] = calls.back();
      if (next < edges_[at].size()) {
        const std::uint32_t to = edges_[at][next++];
        if (index_[to] == 0) {
          enter(to);
          calls.emplace_back(to, 0);
        } else if (group_of_[to] == kNone) {
          low_[at] = std::min(low_[at], index_[to]);
        }
        continue;
      }
      const std::uint32_t done = at;
      calls.pop_back();
      if (!calls.empty()) low_[calls.back().first] = std::min(low_[calls.back().first], low_[done]);
      if (low_[done] == index_[done]) close(done);
    }
  }

  void enter(std::uint32_t node) {
    index_[node] = low_[node] = ++entered_;
    stack_.push_back(node);
  }

  void close(std::uint32_t root) {
    FileGroup& group = groups_.emplace_back();
    const auto number = static_cast<std::uint32_t>(groups_.size() - 1);
    std::size_t first = stack_.size();
    do {
      group_of_[stack_[--first]] = number;
    } while (stack_[first] != root);
    for (std::size_t i = first; i < stack_.size(); ++i) {
      if (stack_[i] < files_.size()) group.files.push_back(stack_[i]);
      for (const std::uint32_t to : edges_[stack_[i]]) {
        if (group_of_[to] != number) group.loads.push_back(group_of_[to]);
      }
    }
    stack_.resize(first);
    std::sort(group.files.begin(), group.files.end());
    std::sort(group.loads.begin(), group.loads.end());
    group.loads.erase(std::unique(group.loads.begin(), group.loads.end()), group.loads.end());
  }

  const std::vector<LoadingFile>& files_;
  std::vector<std::vector<std::uint32_t>> edges_;  // of files first, then of folders and ends
  std::vector<std::string> stems_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> by_stem_;
  std::unordered_set<std::string_view> bases_;  // last names of by_stem_
  std::unordered_map<std::string_view, std::vector<const ModuleName*>> by_name_;
  std::vector<const ModuleName*> patterns_;
  std::unordered_map<std::string_view, std::vector<const ModuleName*>> by_folder_;
  std::unordered_map<std::string, std::uint32_t> folders_;
  std::unordered_map<std::string, std::uint32_t> ends_;

  std::vector<std::uint32_t> index_;
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> group_of_;
  std::vector<std::uint32_t> stack_;
  std::vector<FileGroup> groups_;
  std::uint32_t entered_ = 0;
};

}  // namespace

std::vector<FileGroup> group_by_loads(const std::vector<LoadingFile>& files, const ModuleNames& modules) {
  return Graph(files, modules).groups();
}

std::vector<bool> loaded_by(
    const std::vector<std::uint32_t>& first, const std::vector<LoadingFile>& files, const ModuleNames& modules) {
  const std::vector<FileGroup> groups = group_by_loads(files, modules);
  std::vector<bool> loaded(files.size());
  std::vector<bool> reached(groups.size());
  for (const std::uint32_t file : first) loaded[file] = true;
  for (std::size_t i = groups.size(); i-- > 0;) {
    reached[i] = reached[i] ||
        std::any_of(groups[i].files.begin(), groups[i].files.end(), [&](std::uint32_t file) { return loaded[file]; });
    if (!reached[i]) continue;
    for (const std::uint32_t at : groups[i].files) loaded[at] = true;
    for (const std::uint32_t below : groups[i].loads) reached[below] = true;
  }
  return loaded;
}

}  // namespace guard
