// The image builder with the real bun, and packages from a registry on the loopback interface.
#include "runner/image/image.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/byte_sink.h"
#include "common/file_io.h"
#include "docker/engine_client.h"
#include "runner/image/image_archive.h"
#include "runner/init_side/init_binary.h"
#include "runner/process/subprocess.h"
#include "tests/support/engine/fake_registry.h"
#include "tests/support/engine/test_engine.h"
#include "tests/support/scoped_env.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using testing::FakeRegistry;
using testing::ScopedEnv;

// How a child process says that it went right; sanitizers use others.
constexpr int kFine = 42;

class ImageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto bun = find_bun();
    // A bun that was named for the tests must be there.
    ASSERT_TRUE(bun || std::getenv("GUARD_BUN") == nullptr) << bun.error().to_string();
    if (!bun) GTEST_SKIP() << bun.error().to_string();
    inputs_.bun = *bun;
    auto temp = TempDir::create();
    ASSERT_TRUE(temp);
    temp_.emplace(std::move(*temp));
    inputs_.project = temp_->path() / "a project";  // with blanks: people have them in paths
    ASSERT_TRUE(make_folders(inputs_.project));
    use_cache("the cache");
    package(R"({"name":"x"})");
  }

  void TearDown() override { cache_env_.reset(); }

  void use_cache(const std::string& name) {
    cache_env_.reset();
    cache_env_.emplace("GUARD_CACHE_DIR", (temp_->path() / name).string());
    images_ = temp_->path() / name / "images";
  }

  void package(const std::string& text) { ASSERT_TRUE(write_file_atomically(inputs_.project / "package.json", text)); }

  Result<RuntimeImage> build() { return build_root_folder(inputs_, cancel_, {}); }

  // What lies in images/, but for the lock.
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(images_, failure)) {
      if (entry.path().filename() != ".lock") names.push_back(entry.path().filename().string());
    }
    return names;
  }

  // Runs `work` in a child process; its wait status.
  template <typename Work>
  int in_child(Work work) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work() ? kFine : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  CollectedProcess run(
      std::vector<std::string> argv, std::map<std::string, std::string> env, const fs::path& cwd = {}) {
    ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.env = std::move(env);
    spec.cwd = cwd.string();
    spec.deadline = Deadline::after(std::chrono::minutes(2));
    auto done = collect_process(spec, 1 << 20, cancel_);
    if (done) return *done;
    ADD_FAILURE() << done.error().to_string();
    return {};
  }

  // A package made of what `write` puts into its folder, as npm would pack it.
  template <typename Write>
  std::string pack(Write write) {
    auto temp = TempDir::create();
    EXPECT_TRUE(temp);
    EXPECT_TRUE(make_folders(temp->path() / "package"));
    write(temp->path() / "package");
    run({"tar", "-czf", (temp->path() / "p.tgz").string(), "-C", temp->path().string(), "package"},
        {{"PATH", "/usr/bin:/bin"}});
    auto bytes = read_file(temp->path() / "p.tgz", 1 << 20);
    EXPECT_TRUE(bytes);
    return bytes ? *bytes : "";
  }

  // The lockfile as the project's owner makes it.
  void lock(const FakeRegistry& registry) {
    const auto done = run({inputs_.bun.string(), "install", "--lockfile-only"},
        {{"PATH", "/usr/bin:/bin"}, {"HOME", temp_->path().string()}, {"npm_config_registry", registry.url()},
            {"BUN_INSTALL_CACHE_DIR", (temp_->path() / "owner cache").string()}},
        inputs_.project);
    ASSERT_TRUE(fs::exists(inputs_.project / "bun.lock")) << done.err;
  }

  std::optional<TempDir> temp_;
  std::optional<ScopedEnv> cache_env_;
  fs::path images_;
  ImageInputs inputs_;
  CancelToken cancel_;
};

std::string plain_package(const fs::path& folder) {
  EXPECT_TRUE(write_file_atomically(folder / "package.json",
      R"({"name":"tiny","version":"1.0.0","main":"index.js","bin":"cli.js",)"
      R"("scripts":{"postinstall":"touch script-ran"}})"));
  EXPECT_TRUE(write_file_atomically(folder / "index.js", "module.exports = 7;\n"));
  EXPECT_TRUE(write_file_atomically(folder / "cli.js", "#!/usr/bin/env bun\n", 0755));
  return "";
}

TEST_F(ImageTest, BuildsARootFolderThatBunRunsIn) {
  auto plan = plan_image(inputs_);
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_FALSE(plan->built);
  ASSERT_FALSE(runtime_image(*plan));
  EXPECT_EQ(runtime_image(*plan).error().code(), ErrorCode::image_missing);

  std::vector<std::string> steps;
  auto image = build_root_folder(inputs_, cancel_, [&](std::string_view step) { steps.emplace_back(step); });
  ASSERT_TRUE(image) << image.error().to_string();
  EXPECT_FALSE(steps.empty());
  EXPECT_EQ(image->reference, plan->reference);
  EXPECT_TRUE(image->id.starts_with("sha256:"));

  auto again = plan_image(inputs_);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->built);
  EXPECT_EQ(again->bun_version, plan->bun_version);
  EXPECT_EQ(again->image_id, image->id);
  EXPECT_EQ(entries(), std::vector<std::string>{plan->digest}) << "nothing else is left behind";

  // The loader inside runs bun inside with the libraries inside.
  const fs::path root = image->root_folder;
  std::string loader;
  std::vector<std::string> library_folders;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("ld-")) loader = entry.path().string();
    if (name.find(".so") != std::string::npos) library_folders.push_back(entry.path().parent_path().string());
  }
  ASSERT_FALSE(loader.empty());
  std::string search;
  for (const auto& folder : library_folders) search += folder + ":";
  search.pop_back();
  const auto asked =
      run({loader, "--inhibit-cache", "--library-path", search, (root / "usr/local/bin/bun").string(), "--version"},
          {{"PATH", ""}, {"HOME", "/nonexistent"}});
  EXPECT_EQ(asked.out, plan->bun_version + "\n") << asked.err;
  for (const char* place : {"app", "modules", "dev", "proc", "run", "sys", "tmp"}) {
    EXPECT_TRUE(fs::is_directory(root / place)) << place;
  }
  for (const char* place : {"etc/passwd", "etc/hosts"}) {
    EXPECT_TRUE(fs::is_regular_file(root / place)) << place;
  }
}

// The sandboxed program is another user, and the umask of who builds is not its concern.
TEST_F(ImageTest, IsReadableForAllAndWritableForNobodyElse) {
  const mode_t before = ::umask(0077);
  auto image = build();
  ::umask(before);
  ASSERT_TRUE(image) << image.error().to_string();
  const auto check = [](const fs::path& path) {
    struct stat status {};
    ASSERT_EQ(::lstat(path.c_str(), &status), 0);
    const unsigned mode = status.st_mode & 07777u;
    // A program that nobody may read has memory that nobody may open.
    const bool is_bun = path.native().ends_with("usr/local/bin/bun");
    EXPECT_TRUE(S_ISLNK(status.st_mode) || (is_bun ? mode == 0111u : mode == 0755u || mode == 0644u))
        << path << " has mode " << std::oct << mode;
    EXPECT_TRUE(!S_ISDIR(status.st_mode) || mode == 0755u) << path;
    EXPECT_EQ(status.st_mtim.tv_sec, 0) << path;
  };
  check(image->root_folder);
  for (const auto& entry : fs::recursive_directory_iterator(image->root_folder)) check(entry.path());
  for (fs::path above = image->root_folder.parent_path(); above != temp_->path(); above = above.parent_path()) {
    struct stat status {};
    ASSERT_EQ(::stat(above.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0755u) << above;
  }
}

// Each test file's process would compile it anew.
TEST_F(ImageTest, HoldsTheAttestationScriptAsBytecodeOfItsOwnBun) {
  const auto image = build();
  ASSERT_TRUE(image) << image.error().to_string();
  EXPECT_TRUE(image->has_attestation);
  for (const std::string& name :
      {std::string(kAttestationStart), std::string(kAttestationCore), std::string(kAttestationCore) + ".jsc"}) {
    EXPECT_TRUE(fs::is_symlink(image->root_folder / name)) << name;
    EXPECT_GT(fs::file_size(image->root_folder / "usr/local/lib/guard" / name), 0u) << name;
  }
  const auto core = read_file(image->root_folder / kAttestationCore, 1u << 20);
  ASSERT_TRUE(core);
  EXPECT_TRUE(core->starts_with("// @bun @bytecode")) << core->substr(0, 40);
  EXPECT_NE(core->find("\"use strict\""), std::string::npos);
  EXPECT_NE(core->find("//# sourceURL=node:guard"), std::string::npos);
}

TEST_F(ImageTest, SameInputsGiveTheSameImage) {
  FakeRegistry registry;
  registry.publish("tiny", "1.0.0", pack(plain_package));
  const ScopedEnv named("npm_config_registry", registry.url());
  // bun runs the scripts of a package only where it is told to trust it, and those of the project always.
  const fs::path marker = temp_->path() / "script-ran";
  package(
      R"({"name":"x","dependencies":{"tiny":"1.0.0"},"trustedDependencies":["tiny"],"scripts":{"postinstall":"touch ')" +
      marker.string() + "'\"}}");
  lock(registry);
  auto first = build();
  ASSERT_TRUE(first) << first.error().to_string();
  use_cache("other cache");
  auto second = build();
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_NE(first->root_folder, second->root_folder);
  EXPECT_EQ(first->reference, second->reference);
  EXPECT_EQ(first->id, second->id);

  EXPECT_EQ(*read_file(first->root_folder / "modules/node_modules/tiny/index.js", 100), "module.exports = 7;\n");
  EXPECT_EQ(fs::read_symlink(first->root_folder / "modules/node_modules/.bin/tiny"), "../tiny/cli.js");
  EXPECT_FALSE(fs::exists(marker)) << "the project's install script ran";
  EXPECT_FALSE(fs::exists(first->root_folder / "modules/node_modules/tiny/script-ran"))
      << "a package's install script ran";
}

// Each lockfile fixes tiny 1.0.0 for the workspace a and 2.0.0 for all others, and a imports b.
TEST_F(ImageTest, InstallsWorkspacesFromWhateverLockfile) {
  FakeRegistry registry;
  registry.publish("tiny", "1.0.0", pack(plain_package));
  registry.publish("tiny", "2.0.0", pack(plain_package));
  const ScopedEnv named("npm_config_registry", registry.url());
  const std::string root =
      R"({"name":"root","private":true,"workspaces":["packages/*"],"dependencies":{"tiny":"2.0.0"}})";
  package(root);
  for (const std::string name : {"a", "b"}) {
    ASSERT_TRUE(make_folders(inputs_.project / "packages" / name));
    ASSERT_TRUE(write_file_atomically(inputs_.project / "packages" / name / "package.json",
        R"({"name":"@s/)" + name + R"(","version":"1.0.0")" +
            (name == "a" ? R"(,"dependencies":{"tiny":"1.0.0","@s/b":"1.0.0"}})" : "}")));
  }
  lock(registry);
  const auto bun_lock = read_file(inputs_.project / "bun.lock", 1 << 20);
  ASSERT_TRUE(bun_lock);
  const auto integrity_of = [&](const std::string& version) {
    const auto at = bun_lock->find("sha512-", bun_lock->find("tiny@" + version));
    return bun_lock->substr(at, bun_lock->find('"', at) - at);
  };
  const auto npm_entry = [&](const std::string& version) {
    return R"({"version":")" + version + R"(","integrity":")" + integrity_of(version) + "\"}";
  };
  const auto pnpm_entry = [&](const std::string& version) {
    return "  tiny@" + version + ":\n    resolution: {integrity: " + integrity_of(version) + "}\n\n";
  };
  const auto yarn_entry = [&](const std::string& version) {
    return "tiny@" + version + ":\n  version \"" + version + "\"\n  resolved \"" + registry.url() + "/tiny/-/tiny-" +
        version + ".tgz\"\n  integrity " + integrity_of(version) + "\n\n";
  };
  const std::map<std::string, std::string> lockfiles = {{"bun.lock", *bun_lock},
      {"package-lock.json",
          R"({"name":"root","lockfileVersion":3,"packages":{"":{"name":"root","workspaces":["packages/*"],"dependencies":{"tiny":"2.0.0"}},)"
          R"("node_modules/@s/a":{"resolved":"packages/a","link":true},"node_modules/@s/b":{"resolved":"packages/b","link":true},)"
          R"("packages/a":{"name":"@s/a","version":"1.0.0","dependencies":{"tiny":"1.0.0","@s/b":"1.0.0"}},"packages/b":{"name":"@s/b","version":"1.0.0"},)"
          R"("node_modules/tiny":)" +
              npm_entry("2.0.0") + R"(,"packages/a/node_modules/tiny":)" + npm_entry("1.0.0") + "}}"},
      {"yarn.lock", "# yarn lockfile v1\n\n\n" + yarn_entry("1.0.0") + yarn_entry("2.0.0")},
      {"pnpm-lock.yaml",
          "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      tiny:\n        specifier: 2.0.0\n    "
          "    version: 2.0.0\n\n  packages/a:\n    dependencies:\n"
          "      '@s/b':\n        specifier: 1.0.0\n        version: link:../b\n      tiny:\n        specifier: "
          "1.0.0\n        version: 1.0.0\n\n  packages/b: {}\n\npackages:\n\n" +
              pnpm_entry("1.0.0") + pnpm_entry("2.0.0") + "snapshots:\n\n  tiny@1.0.0: {}\n\n  tiny@2.0.0: {}\n"}};
  for (const auto& [name, text] : lockfiles) {
    for (const auto& [other, unused] : lockfiles) fs::remove(inputs_.project / other);
    ASSERT_TRUE(write_file_atomically(inputs_.project / name, text));
    const auto image = build();
    ASSERT_TRUE(image) << name << ": " << image.error().to_string();
    const fs::path modules = image->root_folder / "modules";
    const auto version_at = [&](const fs::path& place) {
      return read_file(modules / place / "package.json", 1000).value_or("(nothing)");
    };
    EXPECT_NE(version_at("node_modules/tiny").find("1.0.0"), std::string::npos) << name;  // both archives say so
    EXPECT_NE(version_at("packages/a/node_modules/tiny").find("1.0.0"), std::string::npos) << name;
    EXPECT_NE(std::find(image->module_folders.begin(), image->module_folders.end(), "packages/a"),
        image->module_folders.end())
        << name;
    // The workspace that a imports, wherever the link to it was put.
    const fs::path own = modules / "packages/a/node_modules/@s/b";
    EXPECT_EQ(fs::read_symlink(fs::is_symlink(own) ? own : modules / "node_modules/@s/b"), "/app/packages/b") << name;
    const auto plan = plan_image(inputs_);
    ASSERT_TRUE(plan) << name;
    EXPECT_TRUE(plan->built) << name;
    EXPECT_EQ(plan->module_folders, image->module_folders) << name;
  }
}

// A folder that is named by path is a link to the project's own, wherever bun would have put a copy, and its packages
// are found from there.
TEST_F(ImageTest, LinksFoldersThatAreNamedByPath) {
  FakeRegistry registry;
  registry.publish("tiny", "1.0.0", pack(plain_package));
  const ScopedEnv named("npm_config_registry", registry.url());
  ASSERT_TRUE(make_folders(inputs_.project / "libs/b"));
  ASSERT_TRUE(make_folders(inputs_.project / "packages/a"));
  ASSERT_TRUE(write_file_atomically(
      inputs_.project / "libs/b/package.json", R"({"name":"@s/b","version":"1.0.0","dependencies":{"tiny":"1.0.0"}})"));
  const auto first_target = [](const fs::path& root, const std::vector<std::string>& places) {
    for (const auto& place : places) {
      if (fs::is_symlink(root / "modules" / place)) return fs::read_symlink(root / "modules" / place).native();
    }
    return std::string("(no link)");
  };
  package(R"({"name":"root","dependencies":{"@s/b":"file:./libs/b"}})");
  lock(registry);
  const auto flat = build();
  ASSERT_TRUE(flat) << flat.error().to_string();
  EXPECT_EQ(first_target(flat->root_folder, {"node_modules/@s/b"}), "/app/libs/b");
  EXPECT_TRUE(fs::exists(flat->root_folder / "modules/node_modules/tiny/package.json"));

  // With workspaces, bun keeps the packages of each apart.
  package(R"({"name":"root","workspaces":["packages/*"]})");
  ASSERT_TRUE(write_file_atomically(
      inputs_.project / "packages/a/package.json", R"({"name":"a","dependencies":{"@s/b":"file:../../libs/b"}})"));
  fs::remove(inputs_.project / "bun.lock");
  lock(registry);
  const auto apart = build();
  ASSERT_TRUE(apart) << apart.error().to_string();
  const fs::path modules = apart->root_folder / "modules";
  // In two steps, the second absolute.
  fs::path link = modules / "packages/a/node_modules/@s/b";
  for (int step = 0; step < 3 && fs::is_symlink(link) && fs::read_symlink(link).is_relative(); ++step)
    link = (link.parent_path() / fs::read_symlink(link)).lexically_normal();
  ASSERT_TRUE(fs::is_symlink(link)) << link;
  EXPECT_EQ(fs::read_symlink(link), "/app/libs/b");
  EXPECT_TRUE(fs::exists(modules / "libs/b/node_modules/tiny/package.json"));
  EXPECT_NE(
      std::find(apart->module_folders.begin(), apart->module_folders.end(), "libs/b"), apart->module_folders.end());
}

// What bun makes of another lockfile is checked like a bun.lock.
TEST_F(ImageTest, RefusesWhatAnotherLockfileFixesOutsideOfARegistry) {
  package(R"({"name":"x","dependencies":{"tiny":"1.0.0"}})");
  ASSERT_TRUE(write_file_atomically(inputs_.project / "package-lock.json",
      R"({"name":"x","lockfileVersion":3,"packages":{"":{"name":"x","dependencies":{"tiny":"1.0.0"}},"node_modules/tiny":{"version":"1.0.0","resolved":"git+ssh://git@127.0.0.1/a/b.git#0123456789012345678901234567890123456789"}}})"));
  const auto image = build();
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code(), ErrorCode::dependency_unsatisfied) << image.error().to_string();
  EXPECT_NE(image.error().message().find("package-lock.json"), std::string::npos) << image.error().to_string();
}

TEST_F(ImageTest, EveryInputChangesTheDigest) {
  auto plain = plan_image(inputs_);
  ASSERT_TRUE(plain) << plain.error().to_string();
  package(R"({"name":"y"})");
  auto other_package = plan_image(inputs_);
  ASSERT_TRUE(other_package);
  EXPECT_NE(plain->digest, other_package->digest);

  // Another bun that says it has the same version.
  const fs::path changed = temp_->path() / "bun";
  fs::copy_file(inputs_.bun, changed);
  {
    const UniqueFd fd(::open(changed.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    ASSERT_TRUE(write_all(fd.get(), "x"));
  }
  inputs_.bun = changed;
  auto other_bun = plan_image(inputs_);
  ASSERT_TRUE(other_bun) << other_bun.error().to_string();
  EXPECT_EQ(other_bun->bun_version, other_package->bun_version);
  EXPECT_NE(other_bun->digest, other_package->digest);

  inputs_.name = "another-name";
  auto renamed = plan_image(inputs_);
  ASSERT_TRUE(renamed);
  EXPECT_EQ(renamed->digest, other_bun->digest);
  EXPECT_TRUE(renamed->reference.starts_with("another-name:"));
}

TEST_F(ImageTest, HoldsTheToolsThatAreNamedAndTheirDigests) {
  const auto without = plan_image(inputs_);
  ASSERT_TRUE(without);
  inputs_.tools = {"tar", "sh"};
  const auto image = build();
  ASSERT_TRUE(image) << image.error().to_string();
  const auto plan = plan_image(inputs_);
  ASSERT_TRUE(plan);
  EXPECT_NE(plan->digest, without->digest);
  EXPECT_EQ(
      *read_file(image->root_folder / "usr/bin/tar", 64u << 20), *read_file(fs::canonical("/usr/bin/tar"), 64u << 20));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(image->root_folder / "usr/bin/sh")));
  EXPECT_TRUE(std::any_of(plan->libraries.begin(), plan->libraries.end(),
      [](const std::string& line) { return line.starts_with("/usr/bin/tar sha256:"); }));
  // It finds all that it needs in there.
  if (::geteuid() != 0) GTEST_SKIP() << "chroot needs root";
  const auto done = run({"/usr/sbin/chroot", image->root_folder.string(), "/usr/bin/sh", "-c", "exec tar --version"},
      {{"PATH", "/usr/bin"}});
  EXPECT_NE(done.out.find("tar"), std::string::npos) << done.err;
}

TEST_F(ImageTest, RefusesNamesThatAnEngineWouldReadOtherwise) {
  for (const std::string name : {"", "Upper", "a:b", "-a", "a b", "host:5000/a", "a\n", "../a", "a@sha256"}) {
    inputs_.name = name;
    EXPECT_FALSE(plan_image(inputs_)) << name;
  }
}

TEST_F(ImageTest, RefusesAStaleLockfileWithBunsWords) {
  FakeRegistry registry;
  registry.publish("tiny", "1.0.0", pack(plain_package));
  registry.publish("tiny", "2.0.0", pack(plain_package));
  const ScopedEnv named("npm_config_registry", registry.url());
  package(R"({"name":"x","dependencies":{"tiny":"1.0.0"}})");
  lock(registry);
  package(R"({"name":"x","dependencies":{"tiny":"2.0.0"}})");
  auto image = build();
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code(), ErrorCode::dependency_unsatisfied);
  EXPECT_NE(image.error().message().find("frozen"), std::string::npos) << image.error().to_string();
  EXPECT_NE(image.error().hint().find("bun install"), std::string_view::npos);
  EXPECT_EQ(entries(), std::vector<std::string>{});
}

TEST_F(ImageTest, RefusesAPackageThatIsNotWhatTheLockfileFixes) {
  package(R"({"name":"x","dependencies":{"tiny":"1.0.0"}})");
  std::string url;
  {
    FakeRegistry registry;
    registry.publish("tiny", "1.0.0", pack(plain_package));
    lock(registry);
    url = registry.url();
  }
  FakeRegistry registry;
  registry.publish("tiny", "1.0.0", pack([](const fs::path& folder) {
    plain_package(folder);
    EXPECT_TRUE(write_file_atomically(folder / "index.js", "module.exports = 'evil';\n"));
  }));
  const ScopedEnv named("npm_config_registry", registry.url());
  // The lockfile names the place too; that one is gone, so put the new place there and leave the hash.
  auto text = read_file(inputs_.project / "bun.lock", 1 << 20);
  ASSERT_TRUE(text);
  for (auto at = text->find(url); at != std::string::npos; at = text->find(url, at + 1))
    text->replace(at, url.size(), registry.url());
  ASSERT_TRUE(write_file_atomically(inputs_.project / "bun.lock", *text));
  auto image = build();
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code(), ErrorCode::dependency_unsatisfied);
  EXPECT_NE(image.error().message().find("ntegrity"), std::string::npos) << image.error().to_string();
}

// Settings of the project are the generator's; those of the person count.
TEST_F(ImageTest, DoesNotReadTheProjectsSettings) {
  FakeRegistry registry;
  registry.publish("tiny", "1.0.0", pack(plain_package));
  const ScopedEnv named("npm_config_registry", registry.url());
  package(R"({"name":"x","dependencies":{"tiny":"1.0.0"}})");
  lock(registry);
  ASSERT_TRUE(write_file_atomically(inputs_.project / ".npmrc", "registry=http://127.0.0.1:1/\n"));
  ASSERT_TRUE(
      write_file_atomically(inputs_.project / "bunfig.toml", "[install]\nregistry = \"http://127.0.0.1:1/\"\n"));
  auto image = build();
  EXPECT_TRUE(image) << image.error().to_string();
}

TEST_F(ImageTest, AKilledBuildLeavesNoImage) {
  const int status = in_child([&] {
    (void)build_root_folder(inputs_, cancel_, [](std::string_view step) {
      if (step.find("root folder") != std::string_view::npos) ::kill(::getpid(), SIGKILL);
    });
    return false;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  auto plan = plan_image(inputs_);
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_FALSE(plan->built);
  auto listed = list_cached_images();
  ASSERT_TRUE(listed);
  EXPECT_TRUE(listed->empty());
  ASSERT_EQ(entries().size(), 1u);
  EXPECT_TRUE(entries()[0].starts_with("."));

  auto image = build();
  ASSERT_TRUE(image) << image.error().to_string();
  EXPECT_EQ(entries(), std::vector<std::string>{plan->digest}) << "the next build clears away what the killed one left";
}

// A marker without a root folder, and a folder without a marker, are no images; building replaces them.
TEST_F(ImageTest, ReplacesWhatIsIncomplete) {
  auto plan = plan_image(inputs_);
  ASSERT_TRUE(plan);
  ASSERT_TRUE(make_folders(plan->root_folder / "usr"));
  EXPECT_FALSE(plan_image(inputs_)->built);
  ASSERT_TRUE(
      write_file_atomically(plan->root_folder.parent_path() / "image.json", "{\"version\":1,\"digest\":\"x\"}"));
  EXPECT_FALSE(plan_image(inputs_)->built);
  auto image = build();
  ASSERT_TRUE(image) << image.error().to_string();
  EXPECT_TRUE(fs::exists(image->root_folder / "usr/local/bin/bun"));
  EXPECT_EQ(entries(), std::vector<std::string>{plan->digest});
}

// A limit on file sizes stands for the full disk: writing fails in the middle of bun.
TEST_F(ImageTest, AFullDiskLeavesNothingBehind) {
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto image = build();
    return !image && image.error().code() == ErrorCode::io_error;
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kFine);
  EXPECT_EQ(entries(), std::vector<std::string>{});
}

TEST_F(ImageTest, ParallelBuildersMakeOneImage) {
  std::vector<pid_t> children;
  for (int number = 0; number < 3; ++number) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto image = build();
      ::_exit(image && fs::exists(image->root_folder / "usr/local/bin/bun") ? kFine : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kFine) << status;
  }
  EXPECT_EQ(entries().size(), 1u);
}

TEST_F(ImageTest, RemovesWhatIsNamedButForWhatIsInUse) {
  ASSERT_TRUE(build());
  package(R"({"name":"y"})");
  auto second = plan_image(inputs_);
  ASSERT_TRUE(build());
  package(R"({"name":"z"})");
  auto third = plan_image(inputs_);
  ASSERT_TRUE(build());
  ASSERT_TRUE(make_folders(images_ / ".guard-0123456789abcdef" / "image"));
  auto unfinished = list_unfinished_images();
  ASSERT_TRUE(unfinished);
  EXPECT_EQ(unfinished->size(), 1u);
  EXPECT_EQ(entries().size(), 4u);

  auto held = hold_image(*second);
  ASSERT_TRUE(held) << held.error().to_string();
  auto images = list_cached_images();
  ASSERT_TRUE(images);
  ASSERT_EQ(images->size(), 3u);
  std::erase_if(*images, [&](const CachedImage& image) { return image.digest == third->digest; });
  auto removed = remove_cached_images(*images, cancel_);
  ASSERT_TRUE(removed) << removed.error().to_string();
  EXPECT_EQ(removed->size(), 2u);  // the first, and what the killed build left
  auto left = list_cached_images();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->size(), 2u);

  held->reset();
  removed = remove_cached_images(*left, cancel_);
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->size(), 2u);
  EXPECT_EQ(entries(), std::vector<std::string>{});
  EXPECT_FALSE(hold_image(*third));
}

// Whose an image is: who has used it, and when.
TEST_F(ImageTest, KnowsWhoUsesIt) {
  ASSERT_TRUE(build());
  auto plan = plan_image(inputs_);
  ASSERT_TRUE(plan);
  auto images = list_cached_images();
  ASSERT_TRUE(images);
  EXPECT_EQ(images->front().projects, std::vector<fs::path>{});
  EXPECT_GT(images->front().used, std::chrono::system_clock::now() - std::chrono::hours(1));

  ASSERT_TRUE(hold_image(*plan));
  const fs::path users = plan->root_folder.parent_path() / "users";
  for (const auto& entry : fs::directory_iterator(users))
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(50));
  const fs::path other = temp_->path() / "another\nproject";
  ASSERT_TRUE(make_folders(other));
  fs::copy(inputs_.project, other, fs::copy_options::recursive);
  inputs_.project = other;
  auto same = plan_image(inputs_);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->digest, plan->digest);
  ASSERT_TRUE(hold_image(*same));
  ASSERT_TRUE(hold_image(*same));
  images = list_cached_images();
  ASSERT_TRUE(images);
  EXPECT_EQ(images->front().projects, (std::vector<fs::path>{other, plan->project}));
  EXPECT_GT(images->front().used, std::chrono::system_clock::now() - std::chrono::hours(1));

  // What is no note is none.
  ASSERT_TRUE(write_file_atomically(users / "0123456789abcdef", "/home/me"));
  images = list_cached_images();
  ASSERT_TRUE(images);
  EXPECT_EQ(images->front().projects.size(), 2u);

  // What can't be noted keeps nobody from running.
  fs::remove_all(users);
  ASSERT_TRUE(write_file_atomically(users, "a file"));
  EXPECT_TRUE(hold_image(*same));
}

TEST_F(ImageTest, RefusesACacheThatOthersMayWriteTo) {
  ASSERT_TRUE(plan_image(inputs_));
  ASSERT_EQ(::chmod(images_.c_str(), 0777), 0);
  EXPECT_FALSE(plan_image(inputs_));
  EXPECT_FALSE(build());
}

TEST_F(ImageTest, StopsWhenCancelled) {
  cancel_.cancel();
  auto image = build();
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code(), ErrorCode::cancelled);
  EXPECT_EQ(entries(), std::vector<std::string>{});
}

// The id is known before any engine has seen the image, so an engine can be asked whether it has just this one.
TEST_F(ImageTest, AnEngineShowsTheIdThatWasComputed) {
  GUARD_NEEDS_TEST_ENGINE();
  inputs_.name = "guard-test-image";
  auto built = build();
  ASSERT_TRUE(built) << built.error().to_string();
  auto plan = plan_image(inputs_);
  ASSERT_TRUE(plan);
  docker::EngineClient engine(test_engine_socket(), cancel_);
  const auto forget = [&] { (void)engine.remove_image(plan->reference, Deadline::after(std::chrono::seconds(30))); };
  forget();

  std::vector<std::string> steps;
  const auto note = [&](std::string_view step) { steps.emplace_back(step); };
  auto loaded = load_into_engine(*plan, test_engine_socket(), cancel_, note);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_EQ(loaded->reference, plan->reference);
  EXPECT_EQ(loaded->id, plan->image_id);
  auto shown = engine.inspect_image(plan->reference, Deadline::after(std::chrono::seconds(30)));
  ASSERT_TRUE(shown && shown->has_value());
  EXPECT_EQ((*shown)->id, plan->image_id);
  EXPECT_EQ((*shown)->labels.at("guard.content"), plan->digest);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_TRUE(steps[0].starts_with("loading")) << steps[0];

  ASSERT_TRUE(load_into_engine(*plan, test_engine_socket(), cancel_, note));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_TRUE(steps[1].starts_with("the engine has")) << steps[1];
  EXPECT_EQ(entries(), std::vector<std::string>{plan->digest}) << "the archive is gone";
  forget();
}

TEST_F(ImageTest, RefusesToLoadARootFolderThatHasChanged) {
  GUARD_NEEDS_TEST_ENGINE();
  inputs_.name = "guard-test-changed-image";
  ASSERT_TRUE(build());
  auto plan = plan_image(inputs_);
  ASSERT_TRUE(plan);
  ASSERT_TRUE(write_file_atomically(plan->root_folder / "modules" / "extra.js", "evil"));
  auto loaded = load_into_engine(*plan, test_engine_socket(), cancel_, {});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), ErrorCode::io_error) << loaded.error().to_string();
  docker::EngineClient engine(test_engine_socket(), cancel_);
  auto shown = engine.inspect_image(plan->reference, Deadline::after(std::chrono::seconds(30)));
  ASSERT_TRUE(shown);
  EXPECT_FALSE(shown->has_value());
}

class ImageArchive : public ::testing::Test {
 protected:
  void SetUp() override {
    auto temp = TempDir::create();
    ASSERT_TRUE(temp);
    temp_.emplace(std::move(*temp));
    root_ = temp_->path() / "root";
    ASSERT_TRUE(make_folders(root_ / "b" / "empty"));
    ASSERT_TRUE(write_file_atomically(root_ / "a", "one"));
    ASSERT_TRUE(write_file_atomically(root_ / "b" / "c", "two", 0755));
    fs::create_symlink("c", root_ / "b" / "link");
  }

  std::optional<TempDir> temp_;
  fs::path root_;
  CancelToken cancel_;
};

// What an engine checks: the layer's digest is the one in the configuration, and the configuration's digest is the id.
TEST_F(ImageArchive, HoldsTheLayerThatItsConfigurationNames) {
  auto layer = digest_layer(root_, FileTimes::zero, cancel_);
  ASSERT_TRUE(layer);
  const std::string config = image_config("c0ffee", layer->sha256_hex);
  StringSink sink;
  ASSERT_TRUE(write_image_archive(root_, *layer, config, "name:tag", sink, cancel_));
  ASSERT_TRUE(write_file_atomically(temp_->path() / "image.tar", sink.text));

  ProcessSpec spec;
  spec.argv = {"sh", "-ec",
      "mkdir x; tar -xf image.tar -C x; cat x/manifest.json; echo; sha256sum < x/layer.tar; "
      "for f in x/[0-9a-f]*.json; do basename $f; sha256sum < $f; done; tar -tf x/layer.tar"};
  spec.cwd = temp_->path().string();
  spec.env = {{"PATH", "/usr/bin:/bin"}};
  auto done = collect_process(spec, 1 << 16, cancel_);
  ASSERT_TRUE(done);
  const std::string id = image_id(config).substr(7);
  EXPECT_EQ(done->out,
      "[{\"Config\":\"" + id + ".json\",\"Layers\":[\"layer.tar\"],\"RepoTags\":[\"name:tag\"]}]\n" +
          layer->sha256_hex + "  -\n" + id + ".json\n" + id + "  -\n" + "a\nb/\nb/c\nb/empty/\nb/link\n")
      << done->err;
}

TEST_F(ImageArchive, NoticesAFolderThatHasChanged) {
  auto layer = digest_layer(root_, FileTimes::zero, cancel_);
  ASSERT_TRUE(layer);
  ASSERT_TRUE(write_file_atomically(root_ / "a", "eno"));
  StringSink sink;
  auto written =
      write_image_archive(root_, *layer, image_config("c0ffee", layer->sha256_hex), "name:tag", sink, cancel_);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::io_error);
  ASSERT_TRUE(write_file_atomically(root_ / "more", std::string(4096, 'x')));
  EXPECT_FALSE(
      write_image_archive(root_, *layer, image_config("c0ffee", layer->sha256_hex), "name:tag", sink, cancel_));
}

TEST_F(ImageArchive, DoesNotDependOnOwnersTimesAndUmask) {
  auto before = digest_layer(root_, FileTimes::zero, cancel_);
  ASSERT_TRUE(before);
  const timespec times[2] = {{12345, 0}, {67890, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (root_ / "a").c_str(), times, 0), 0);
  ASSERT_EQ(::chmod((root_ / "a").c_str(), 0600), 0);
  // Only root can give a file away.
  EXPECT_EQ(::lchown((root_ / "a").c_str(), 1234, 1234), ::geteuid() == 0 ? 0 : -1);
  auto after = digest_layer(root_, FileTimes::zero, cancel_);
  ASSERT_TRUE(after);
  EXPECT_EQ(before->sha256_hex, after->sha256_hex);
}

}  // namespace
}  // namespace guard
