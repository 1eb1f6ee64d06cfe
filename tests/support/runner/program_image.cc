#include "tests/support/runner/program_image.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/byte_sink.h"
#include "common/file_io.h"
#include "common/hash.h"
#include "runner/files/tar_writer.h"

namespace guard::testing {
namespace {

constexpr std::uint64_t kProgramBytesMax = 64u << 20;
constexpr milliseconds kLimit{60'000};

Result<std::string> layer_of(const std::map<std::string, std::filesystem::path>& programs) {
  StringSink layer;
  TarWriter tar(layer);
  GUARD_TRY(tar.add_folder("app", 0755));
  GUARD_TRY(tar.add_folder("app/sandbox", 0755));  // as in the image that guard builds; not the program's own
  GUARD_TRY(tar.add_folder("bin", 0755));
  for (const auto& [name, file] : programs) {
    GUARD_TRY_ASSIGN(const std::string bytes, read_file(file, kProgramBytesMax));
    GUARD_TRY(tar.add_file(name, 0755, bytes));
  }
  // Tests run beside one another on one engine: what one of them removes must not be what another has just loaded.
  GUARD_TRY(tar.add_file("bin/of-" + std::to_string(::getpid()), 0644, ""));
  GUARD_TRY(tar.finish());
  return std::move(layer.text);
}

Result<std::string> image_of(
    const std::string& reference, const std::string& layer, const nlohmann::json& config_extra) {
  nlohmann::json config = {{"architecture", "amd64"}, {"os", "linux"},
      {"config", {{"Env", {"PATH=/image/path", "FROM_IMAGE=1"}}}},
      {"rootfs", {{"type", "layers"}, {"diff_ids", {"sha256:" + sha256_hex(layer)}}}}};
  config["config"].update(config_extra);
  const nlohmann::json manifest =
      nlohmann::json::array({{{"Config", "config.json"}, {"RepoTags", {reference}}, {"Layers", {"layer.tar"}}}});
  StringSink image;
  TarWriter tar(image);
  GUARD_TRY(tar.add_file("config.json", 0644, config.dump()));
  GUARD_TRY(tar.add_file("layer.tar", 0644, layer));
  GUARD_TRY(tar.add_file("manifest.json", 0644, manifest.dump()));
  GUARD_TRY(tar.finish());
  return std::move(image.text);
}

}  // namespace

Result<std::string> load_program_image(docker::EngineClient& engine, const std::string& reference,
    const std::map<std::string, std::filesystem::path>& programs, const nlohmann::json& config_extra) {
  GUARD_TRY_ASSIGN(const std::string layer, layer_of(programs));
  GUARD_TRY_ASSIGN(const std::string tar, image_of(reference, layer, config_extra));
  GUARD_TRY_ASSIGN(const TempDir folder, TempDir::create());
  const auto path = folder.path() / "image.tar";
  GUARD_TRY(write_file_atomically(path, tar));
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  GUARD_TRY(engine.load_image(fd.get(), tar.size(), Deadline::after(kLimit)));
  GUARD_TRY_ASSIGN(const auto image, engine.inspect_image(reference, Deadline::after(kLimit)));
  if (!image) return Error(ErrorCode::image_missing, "the engine has lost what it loaded");
  return image->id;
}

}  // namespace guard::testing
