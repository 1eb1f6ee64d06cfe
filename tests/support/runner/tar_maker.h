// Tar archives as nobody should make them, and the images made of them: what TarWriter refuses to write.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_io.h"
#include "common/hash.h"

namespace guard::testing {

class TarMaker {
 public:
  TarMaker& file(std::string_view path, std::string_view bytes, unsigned mode = 0644) {
    return entry(path, '0', mode, bytes, {});
  }
  TarMaker& folder(std::string_view path, unsigned mode = 0755) { return entry(path, '5', mode, {}, {}); }
  TarMaker& link(std::string_view path, std::string_view target) { return entry(path, '2', 0777, {}, target); }
  TarMaker& hard_link(std::string_view path, std::string_view target) { return entry(path, '1', 0644, {}, target); }
  TarMaker& device(std::string_view path) { return entry(path, '3', 0666, {}, {}); }
  TarMaker& fifo(std::string_view path) { return entry(path, '6', 0666, {}, {}); }

  // Whose the next entries are.
  TarMaker& owner(unsigned user) {
    owner_ = user;
    return *this;
  }
  // What a pax header says of the entry behind it: "NAME=VALUE".
  TarMaker& pax(const std::vector<std::string>& fields) {
    std::string text;
    for (const std::string& field : fields) {
      std::size_t size = field.size() + 3;
      while (fmt::formatted_size("{} {}\n", size, field) != size) ++size;
      text += fmt::format("{} {}\n", size, field);
    }
    return entry("pax", 'x', 0644, text, {});
  }

  std::string bytes() const { return bytes_ + std::string(1024, '\0'); }
  std::string without_end() const { return bytes_; }

 private:
  TarMaker& entry(std::string_view path, char type, unsigned mode, std::string_view content, std::string_view target) {
    std::string header(512, '\0');
    const auto put = [&](std::size_t at, std::string_view text) { header.replace(at, text.size(), text); };
    put(0, path);
    put(100, fmt::format("{:07o}", mode));
    put(108, fmt::format("{:07o}", owner_));
    put(116, "0000000");
    put(124, fmt::format("{:011o}", content.size()));
    put(136, fmt::format("{:011o}", 1'700'000'000));
    put(148, "        ");
    header[156] = type;
    put(157, target);
    put(257, std::string_view("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    put(148, fmt::format("{:06o}", sum));
    header[154] = '\0';
    bytes_ += header;
    bytes_ += content;
    bytes_.resize((bytes_.size() + 511) / 512 * 512, '\0');
    return *this;
  }

  std::string bytes_;
  unsigned owner_ = 0;
};

struct MadeBlob {
  std::string path;
  std::string digest;
  std::size_t size = 0;
};

// An OCI layout in `folder`; `stored` is what lies there of each layer, where that is compressed. Answers the blobs:
// layers, configuration, manifest.
inline std::vector<MadeBlob> make_layout(const std::filesystem::path& folder, const std::vector<std::string>& layers,
    std::vector<std::string> stored = {}, const nlohmann::json& env = nlohmann::json::array()) {
  using nlohmann::json;
  std::vector<MadeBlob> blobs;
  const auto blob = [&](const std::string& bytes) {
    const std::string hex = sha256_hex(bytes);
    blobs.push_back({"blobs/sha256/" + hex, "sha256:" + hex, bytes.size()});
    (void)make_folders(folder / "blobs/sha256");
    (void)write_file_atomically(folder / blobs.back().path, bytes);
    return json{{"digest", blobs.back().digest}, {"size", bytes.size()}};
  };
  if (stored.empty()) stored = layers;
  json described = json::array();
  json diffs = json::array();
  for (std::size_t index = 0; index < layers.size(); ++index) {
    described.push_back(blob(stored[index]));
    diffs.push_back("sha256:" + sha256_hex(layers[index]));
  }
  const json config = blob(json{{"architecture", "amd64"}, {"os", "linux"}, {"config", {{"Env", env}}},
      {"rootfs", {{"type", "layers"}, {"diff_ids", diffs}}}}
                               .dump());
  const json manifest = blob(json{{"schemaVersion", 2}, {"config", config}, {"layers", described}}.dump());
  json other = manifest;
  other["platform"] = {{"os", "unknown"}, {"architecture", "unknown"}};
  (void)write_file_atomically(folder / "oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
  (void)write_file_atomically(
      folder / "index.json", json{{"schemaVersion", 2}, {"manifests", json::array({other, manifest})}}.dump());
  return blobs;
}

// As `docker save` of engines without a store of OCI blobs writes it: manifest.json last, and a layer that is there
// twice is a link.
inline std::string make_saved(const std::vector<std::string>& layers, const std::string& config_name = {}) {
  using nlohmann::json;
  TarMaker tar;
  json diffs = json::array();
  json paths = json::array();
  for (std::size_t index = 0; index < layers.size(); ++index) {
    diffs.push_back("sha256:" + sha256_hex(layers[index]));
    paths.push_back(fmt::format("l{}/layer.tar", index));
    const auto before = std::find(layers.begin(), layers.end(), layers[index]) - layers.begin();
    if (static_cast<std::size_t>(before) == index) {
      tar.file(fmt::format("l{}/layer.tar", index), layers[index]);
    } else {
      tar.link(fmt::format("l{}/layer.tar", index), fmt::format("../l{}/layer.tar", before));
    }
  }
  const std::string config = json{{"architecture", "amd64"}, {"os", "linux"},
      {"config", {{"Env", {"PATH=/opt/bin:/bin", "A=b"}}}}, {"rootfs", {{"type", "layers"}, {"diff_ids", diffs}}}}
                                 .dump();
  const std::string name = config_name.empty() ? sha256_hex(config) + ".json" : config_name;
  tar.file(name, config);
  tar.file("manifest.json", json::array({{{"Config", name}, {"RepoTags", {"x:y"}}, {"Layers", paths}}}).dump());
  return tar.bytes();
}

}  // namespace guard::testing
