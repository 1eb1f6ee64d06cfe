// Images that others made, hostile ones among them, and what is left of an import that fails or dies.
#include "runner/import/image_import.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/file_io.h"
#include "runner/image/image_archive.h"
#include "runner/import/debian_image.h"
#include "runner/process/subprocess.h"
#include "tests/support/engine/image_registry.h"
#include "tests/support/runner/tar_maker.h"
#include "tests/support/scoped_env.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using testing::make_layout;
using testing::make_saved;
using testing::ScopedEnv;
using testing::TarMaker;

// What gzip makes of nothing.
constexpr char kEmptyMember[] = {'\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0};

class ImageImport : public ::testing::Test {
 protected:
  void SetUp() override {
    auto temp = TempDir::create();
    ASSERT_TRUE(temp);
    temp_.emplace(std::move(*temp));
    cache_env_.emplace("GUARD_CACHE_DIR", path("cache").string());
  }

  fs::path path(const std::string& name) const { return temp_->path() / name; }

  std::string file(const std::string& name, const std::string& bytes) const {
    EXPECT_TRUE(write_file_atomically(path(name), bytes));
    return path(name).string();
  }

  std::string layout(const std::vector<std::string>& layers, const std::vector<std::string>& stored = {}) {
    blobs_ = make_layout(path("layout"), layers, stored);
    return path("layout").string();
  }

  Result<ImagePlan> import(const std::string& from, const TreeLimits& limits = {}) {
    return import_image({.name = "mine", .from = from, .limits = limits}, cancel_, progress_);
  }

  // Imports it and answers its root folder.
  fs::path root_of(const std::string& from) {
    const auto plan = import(from);
    EXPECT_TRUE(plan) << plan.error().to_string();
    return plan ? plan->root_folder : fs::path();
  }

  // It is refused, and nothing is left of it.
  std::string refused(const std::string& from, ErrorCode code = ErrorCode::input_invalid) {
    const auto plan = import(from);
    EXPECT_FALSE(plan);
    EXPECT_EQ(left(), 0u);
    if (plan) return {};
    EXPECT_EQ(plan.error().code(), code) << plan.error().to_string();
    EXPECT_FALSE(plan.error().hint().empty());
    return plan.error().to_string();
  }

  std::size_t left() const {
    std::size_t count = 0;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(path("cache/images"), failure))
      count += entry.path().filename() != ".lock";
    return count;
  }

  static long peak_kb() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
  }

  static std::string text(const fs::path& file) { return read_file(file, 1 << 20, FollowLinks::no).value_or("none"); }
  static bool is_there(const fs::path& file) { return fs::symlink_status(file).type() != fs::file_type::not_found; }

  std::string through(const std::vector<std::string>& filter, const std::string& bytes) {
    ProcessSpec spec;
    spec.argv = filter;
    spec.env = {{"PATH", "/usr/bin:/bin"}};
    spec.stdin_text = bytes;
    spec.deadline = Deadline::after(std::chrono::minutes(1));
    const auto done = collect_process(spec, 1 << 24, cancel_);
    EXPECT_TRUE(done && done->result.outcome.value == 0);
    return done ? done->out : "";
  }

  std::optional<TempDir> temp_;
  std::optional<ScopedEnv> cache_env_;
  std::vector<testing::MadeBlob> blobs_;
  ImageProgress progress_;
  CancelToken cancel_;
};

TEST_F(ImageImport, LaysLayersOverEachOther) {
  TarMaker lower;
  lower.folder("./").folder("etc/").file("etc/a", "1").file("etc/kept", "k").folder("gone").file("gone/x", "x");
  lower.folder("usr/lib")
      .file("usr/lib/one", "1")
      .link("lib", "usr/lib")
      .folder("was-folder")
      .file("was-folder/f", "f");
  lower.file("was-file", "f").link("was-link", "etc").file("bin/tool", "#!", 06755);
  TarMaker upper;
  upper.file("etc/a", "2").file(".wh.gone", "").file("lib/two", "2").file("was-folder", "now a file");
  upper.folder("was-file").file("was-file/x", "now a folder").folder("was-link").file("was-link/y", "y");
  upper.hard_link("etc/again", "etc/a");
  const fs::path root = root_of(layout({lower.bytes(), upper.bytes()}));
  EXPECT_EQ(text(root / "etc/a"), "2");
  EXPECT_EQ(text(root / "etc/kept"), "k");
  EXPECT_EQ(text(root / "etc/again"), "2");
  EXPECT_FALSE(is_there(root / "gone"));
  EXPECT_EQ(text(root / "usr/lib/two"), "2") << "a file below a linked folder of a lower layer";
  EXPECT_EQ(text(root / "was-folder"), "now a file");
  EXPECT_EQ(text(root / "was-file/x"), "now a folder");
  EXPECT_EQ(text(root / "was-link/y"), "y");
  EXPECT_FALSE(is_there(root / "etc/y"));
  struct stat tool {};
  ASSERT_EQ(::stat((root / "bin/tool").c_str(), &tool), 0);
  EXPECT_EQ(tool.st_mode & 07777, 0755u) << "nothing runs as its owner";
  EXPECT_EQ(tool.st_mtim.tv_sec, 1'700'000'000) << "compiled Python is only used if its source has this time";
  for (const char* place : {"proc", "dev", "tmp", "workspace"}) EXPECT_TRUE(fs::is_directory(root / place)) << place;
}

// Wherever they stand in their layer.
TEST_F(ImageImport, WhiteOutsTakeAwayWhatLowerLayersHave) {
  TarMaker lower;
  lower.file("d/old", "o").file("d/sub/old", "o").file("d/sub/deep/old", "o").file("e/both", "o").file("e/old", "o");
  TarMaker upper;
  upper.file("d/new", "n").file("d/sub/new", "n").file("d/.wh..wh..opq", "").file("e/both", "n");
  upper.file("e/.wh.both", "").file("e/.wh.old", "").file("e/.wh..wh.plnk", "").file(".wh.never", "");
  const fs::path root = root_of(layout({lower.bytes(), upper.bytes()}));
  EXPECT_EQ(text(root / "d/new"), "n");
  EXPECT_EQ(text(root / "d/sub/new"), "n");
  EXPECT_EQ(text(root / "e/both"), "n");
  for (const char* path : {"d/old", "d/sub/old", "d/sub/deep", "e/old", "d/.wh..wh..opq", "e/.wh.both"})
    EXPECT_FALSE(is_there(root / path)) << path;
}

TEST_F(ImageImport, NoLinkLeadsOut) {
  ASSERT_TRUE(make_folders(path("outside")));
  const std::string outside = path("outside").string();
  TarMaker tar;
  tar.folder(outside.substr(1))
      .folder("etc")
      .link("a", outside)
      .file("a/passwd", "inside")
      .link("up", "../../../../../../../../../../" + outside);
  tar.file("up/x", "inside").link("f", outside + "/f");
  tar.file("f", "a file now")
      .hard_link("h", "/a/passwd")
      .link("workspace", outside)
      .link("run", "/")
      .link("guard-init", "/f");
  const fs::path root = root_of(file("root.tar", tar.bytes()));
  EXPECT_TRUE(fs::is_empty(path("outside")));
  EXPECT_EQ(text(root / outside.substr(1) / "passwd"), "inside");
  EXPECT_EQ(text(root / outside.substr(1) / "x"), "inside");
  EXPECT_EQ(text(root / "f"), "a file now");
  EXPECT_FALSE(fs::is_symlink(root / "workspace"));
  EXPECT_FALSE(fs::is_symlink(root / "run"));
  EXPECT_FALSE(is_there(root / "guard-init"));
}

TEST_F(ImageImport, RefusesTwoCompressions) {
  TarMaker tar;
  tar.file("a", "b");
  refused(file("root.tar", through({"gzip"}, through({"gzip"}, tar.bytes()))));
}

TEST_F(ImageImport, RefusesNamesThatLeadUpwards) {
  EXPECT_NE(refused(file("a.tar", TarMaker().file("x/../../y", "").bytes())).find("\"..\""), std::string::npos);
  EXPECT_NE(refused(layout({TarMaker().file("../y", "").bytes()})).find("in layer 1"), std::string::npos);
  refused(file("b.tar", TarMaker().file("a", "").hard_link("h", "../a").bytes()));
  refused(file("c.tar", TarMaker().hard_link("h", "etc/passwd").bytes()));
  refused(file("d.tar", TarMaker().folder("a").hard_link("h", "a").bytes()));
  refused(file("e.tar", TarMaker().file("a", "").file("a/b", "").bytes()));
  refused(file("f.tar", TarMaker().link("a", "nowhere/b").file("a/b", "").bytes()));
  refused(file("g.tar", TarMaker().file("x/.wh.y", "").bytes()));
  refused(layout({TarMaker().file("x/.wh...", "").bytes()}));
}

TEST_F(ImageImport, LeavesDevicesOutAndSaysSo) {
  const auto plan = import(file("a.tar", TarMaker().device("dev/sda").fifo("p").file("etc/a", "a").bytes()));
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_FALSE(is_there(plan->root_folder / "p"));
  EXPECT_TRUE(fs::is_empty(plan->root_folder / "dev"));
  EXPECT_EQ(plan->notes, std::vector<std::string>({"2 devices left out"}));
}

TEST_F(ImageImport, TakesCompressedLayersAndArchives) {
  const std::string layer = TarMaker().file("etc/a", "a").bytes();
  EXPECT_EQ(
      text(root_of(layout({layer, layer}, {through({"gzip"}, layer), through({"zstd", "-q"}, layer)})) / "etc/a"), "a");
  EXPECT_EQ(text(root_of(file("r.tar.gz", through({"gzip"}, layer))) / "etc/a"), "a");
  const std::string packed = through({"tar", "-C", path("layout").string(), "-c", "."}, "");
  EXPECT_EQ(text(root_of(file("oci.tar.zst", through({"zstd", "-q"}, packed))) / "etc/a"), "a");
}

TEST_F(ImageImport, TakesWhatDockerSaves) {
  const std::string one = TarMaker().file("etc/a", "1").bytes();
  const std::string two = TarMaker().file("etc/a", "2").bytes();
  const auto plan = import(file("saved.tar", make_saved({one, two, one})));
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(text(plan->root_folder / "etc/a"), "1");
  EXPECT_EQ(plan->env, std::vector<std::string>({"PATH=/opt/bin:/bin", "A=b"}));
  EXPECT_EQ(plan->layers.size(), 3u);
  EXPECT_EQ(plan->config_sha256.size(), 64u);
  EXPECT_EQ(plan->source, path("saved.tar").string());
}

TEST_F(ImageImport, RefusesWhatIsNotItsDigest) {
  const std::string layer = TarMaker().file("etc/a", "a").bytes();
  const std::string other = TarMaker().file("etc/a", "b").bytes();
  for (std::size_t index = 0; index < 3; ++index) {  // layer, configuration, manifest
    const std::string from = layout({layer});
    std::string bytes = text(path("layout") / blobs_[index].path);
    bytes[bytes.size() / 3] ^= 1;
    file("layout/" + blobs_[index].path, bytes);
    const std::string said = refused(from);
    EXPECT_TRUE(said.find("digest") != std::string::npos || said.find("read") != std::string::npos) << said;
    fs::remove_all(path("layout"));
  }
  // The bytes are those of the manifest, but not those that the configuration means.
  EXPECT_NE(refused(layout({layer}, {other})).find("digest"), std::string::npos);
  refused(file("saved.tar", make_saved({layer}, std::string(64, 'a') + ".json")));
  EXPECT_TRUE(import(file("other.tar", make_saved({layer}, "config.json")))) << "some programs name it so";
}

TEST_F(ImageImport, RefusesWhatIsDamaged) {
  const std::string tar = TarMaker().file("etc/a", std::string(5000, 'a')).bytes();
  refused(file("cut.tar", tar.substr(0, 3000)));
  refused(file("cut.tar.gz", through({"gzip"}, tar).substr(0, 60)));
  refused(file("empty.tar", ""));
  refused(file("none.tar", "this is no archive, whatever its name says"));
  refused(file("nothing.tar", TarMaker().bytes()));
  refused(path("nowhere").string(), ErrorCode::file_not_found);
  ASSERT_TRUE(make_folders(path("half")));
  file("half/oci-layout", "{}");
  refused(path("half").string());
  layout({tar});
  fs::remove(path("layout") / blobs_[0].path);
  refused(path("layout").string(), ErrorCode::file_not_found);
}

TEST_F(ImageImport, HoldsItsLimits) {
  const std::string from =
      file("a.tar", TarMaker().file("a", std::string(2000, 'a')).file("b", "b").file("c", "").bytes());
  for (const TreeLimits& limits : {TreeLimits{2, 1 << 20}, TreeLimits{100, 1999}}) {
    const auto plan = import(from, limits);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code(), ErrorCode::file_too_large);
    EXPECT_EQ(left(), 0u);
  }
  // A few bytes that become many.
  const std::string bomb = through({"gzip"}, std::string(1 << 22, '\0'));
  const auto plan = import(file("bomb.tar.gz", TarMaker().file("a", "a").bytes() + bomb), {100, 1 << 20});
  EXPECT_FALSE(plan && plan->layer_bytes > 1 << 20);
}

// What a few bytes of an archive can make a reader of it hold or do.
TEST_F(ImageImport, NoArchiveMakesGuardTakeMemory) {
  std::string map = "8000000\n";
  for (int count = 0; count < 8'000'000; ++count) map += "0\n0\n";
  map.resize((map.size() + 511) / 512 * 512, '\0');
  TarMaker tar;
  tar.pax({"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=a", "GNU.sparse.realsize=0"}).file("a", map);
  const std::string from = file("sparse.tar.gz", through({"gzip", "-1"}, tar.bytes()));
#if !defined(__SANITIZE_ADDRESS__)  // it has reserved all memory before
  const long before = peak_kb();
  EXPECT_NE(refused(from).find("memory"), std::string::npos);
  EXPECT_LT(peak_kb() - before, 64 * 1024);
#endif
}

TEST_F(ImageImport, NoArchiveKeepsGuardBusy) {
  std::string members;
  while (members.size() < 20'000'000) members.append(kEmptyMember, sizeof kEmptyMember);
  const std::string compressed = through({"gzip", "-1"}, members);
  std::string all;
  for (int count = 0; count < 200; ++count) all += compressed;
  const std::string from = file("members.tar.gz", all);
  const auto long_one = import(from, {.reading_max = std::chrono::seconds(1)});
  ASSERT_FALSE(long_one);
  EXPECT_NE(long_one.error().to_string().find("more than 1 s of"), std::string::npos) << long_one.error().to_string();
  const auto begin = std::chrono::steady_clock::now();
  std::thread interrupt([&] {
    ::usleep(100'000);
    cancel_.cancel();
  });
  const auto plan = import(from);
  interrupt.join();
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code(), ErrorCode::cancelled) << plan.error().to_string();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(600));
}

TEST_F(ImageImport, CountsWhatARemovalLooksAt) {
  TarMaker lower;
  for (int index = 0; index < 100; ++index) lower.file(fmt::format("d/{}", index), "");
  TarMaker upper = lower;
  for (int count = 0; count < 100; ++count) upper.file("d/.wh..wh..opq", "");
  const auto plan = import(layout({lower.bytes(), upper.bytes()}), {5000, 1 << 20});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code(), ErrorCode::file_too_large) << plan.error().to_string();
}

// A short name can ask for many folders, and a chain of links for many steps.
TEST_F(ImageImport, CountsWhatANameAsksFor) {
  TarMaker deep;
  for (int index = 0; index < 100; ++index) {
    std::string name = std::to_string(index);
    for (int depth = 0; depth < 40; ++depth) name += "/d";
    deep.file(name, "");
  }
  const auto folders = import(file("deep.tar", deep.bytes()), {1000, 1 << 20});
  ASSERT_FALSE(folders);
  EXPECT_EQ(folders.error().code(), ErrorCode::file_too_large) << folders.error().to_string();

  TarMaker links;
  links.folder("d");
  for (int index = 0; index < 38; ++index) {
    std::string target = index == 0 ? "d" : "l" + std::to_string(index - 1);
    for (int step = 0; step < 12; ++step) target = "d/../" + target;
    links.link("l" + std::to_string(index), target);
  }
  for (int index = 0; index < 200'000; ++index) links.file("l37/a", "");
  const auto steps = import(file("links.tar", links.bytes()), {.reading_max = std::chrono::seconds(1)});
  ASSERT_FALSE(steps);
  EXPECT_NE(steps.error().to_string().find("more than 1 s of"), std::string::npos) << steps.error().to_string();
}

// The kernel begins a lookup again, or gives it up, while names change anywhere on the machine.
TEST_F(ImageImport, FollowsLinksBesideABusyNeighbour) {
  TarMaker links;
  links.folder("d").file("d/x", "x");
  for (int index = 0; index < 38; ++index) {
    std::string target = index == 0 ? "d" : "l" + std::to_string(index - 1);
    for (int step = 0; step < 12; ++step) target = "d/../" + target;
    links.link("l" + std::to_string(index), target);
  }
  for (int index = 0; index < 2000; ++index) links.file("l37/a", std::to_string(index));
  const std::string archive = file("links.tar", links.bytes());
  std::atomic<bool> over = false;
  std::thread neighbour([&] {
    const std::string one = file("one", ""), other = path("other").string();
    while (!over) {
      ::rename(one.c_str(), other.c_str());
      ::rename(other.c_str(), one.c_str());
    }
  });
  EXPECT_EQ(text(root_of(archive) / "d" / "a"), "1999");
  over = true;
  neighbour.join();
}

TEST_F(ImageImport, FollowsNoLinkOutOfItsRoot) {
  ASSERT_TRUE(fs::create_directory(path("outside")));
  for (const char* nowhere : {"loop/a", "out/a", "file/a"}) {
    TarMaker more;
    more.link("loop", "loop").link("out", path("outside").string()).file("file", "").file(nowhere, "");
    EXPECT_NE(refused(file("more.tar", more.bytes())).find("lies below"), std::string::npos) << nowhere;
  }
  TarMaker links;
  links.folder("d")
      .folder("e")
      .link("up", "../../../..")
      .link("d/abs", "/d/../e/")
      .link("loop", "loop")
      .link("self", "/");
  links.file("up/a", "up").file("d/abs/b", "made").file("self/self/up/c", "c");
  const fs::path root = root_of(file("links.tar", links.bytes()));
  EXPECT_EQ(text(root / "a"), "up");
  EXPECT_EQ(text(root / "e/b"), "made");
  EXPECT_EQ(text(root / "c"), "c");
  EXPECT_TRUE(fs::is_empty(path("outside")));
}

TEST_F(ImageImport, MakesAHomeForProgramsOfE2bWhereThereIsNone) {
  ASSERT_TRUE(make_folders(path("outside/user")));
  const auto target = [](const fs::path& link) { return fs::is_symlink(link) ? fs::read_symlink(link).string() : ""; };
  const fs::path none = root_of(file("none.tar", TarMaker().file("etc/a", "a").bytes()));
  EXPECT_EQ(target(none / "home/user"), "/workspace");
  const fs::path own = root_of(file("own.tar", TarMaker().file("home/user/notes", "kept").bytes()));
  EXPECT_EQ(text(own / "home/user/notes"), "kept");
  const fs::path linked =
      root_of(file("linked.tar", TarMaker().link("home", "/var/home").file("var/home/user/notes", "kept").bytes()));
  EXPECT_EQ(text(linked / "var/home/user/notes"), "kept");
  for (const std::string& home : {std::string("/var/none"), path("outside").string()}) {
    const fs::path root = root_of(file("away.tar", TarMaker().link("home", home).bytes()));
    EXPECT_EQ(target(root / "home"), home);
  }
  EXPECT_EQ(text(root_of(file("file.tar", TarMaker().file("home", "a file").bytes())) / "home"), "a file");
}

TEST_F(ImageImport, CountsWhatItDigests) {
  const std::string layer = TarMaker().file("a", "a").bytes();
  const std::string stored = through({"gzip"}, layer) + std::string(50'000, '\0');
  const std::vector<std::string> layers(50, layer);
  const auto plan = import(layout(layers, std::vector<std::string>(50, stored)), {100, 1 << 20});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code(), ErrorCode::file_too_large) << plan.error().to_string();
}

TEST_F(ImageImport, LimitsAreOfAllLayersTogether) {
  TarMaker tar;
  for (const char* name : {"a", "b", "c", "d"}) tar.folder(name);
  const auto plan = import(layout({tar.bytes(), tar.bytes()}), {100, 5000});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code(), ErrorCode::file_too_large) << plan.error().to_string();
  EXPECT_NE(refused(layout(std::vector<std::string>(129, tar.bytes()))).find("layers"), std::string::npos);
}

// A folder that turns into a link while it is read is not followed.
TEST_F(ImageImport, ReadsNoFolderThroughALink) {
  ASSERT_TRUE(make_folders(path("outside")));
  file("outside/f", "outside");
  for (int index = 0; index < 50; ++index) {
    ASSERT_TRUE(make_folders(path(fmt::format("root/d{}", index))));
    file(fmt::format("root/d{}/f", index), "inside");
    fs::create_symlink(path("outside"), path(fmt::format("l{}", index)));
  }
  std::atomic<bool> done = false;
  std::thread swap([&] {
    for (int index = 0; !done; index = (index + 1) % 50)
      ::renameat2(AT_FDCWD, path(fmt::format("root/d{}", index)).c_str(), AT_FDCWD,
          path(fmt::format("l{}", index)).c_str(), RENAME_EXCHANGE);
  });
  std::set<std::string> seen;
  for (int count = 0; count < 10; ++count) {
    const auto plan = import(path("root").string());
    for (int index = 0; plan && index < 50; ++index) {
      const fs::path there = plan->root_folder / fmt::format("d{}", index);
      if (!fs::is_symlink(there)) seen.insert(text(there / "f"));
    }
  }
  done = true;
  swap.join();
  EXPECT_EQ(seen.count("outside"), 0u);
}

TEST_F(ImageImport, KeepsWhatIsPrivate) {
  TarMaker tar;
  tar.file("key", "k", 0600).file("tool", "t", 0700).folder("root", 0700).file("root/a", "a").file("all", "a", 0444);
  tar.owner(1000).file("users", "u", 0600);
  const fs::path root = root_of(file("a.tar", tar.bytes()));
  const auto mode = [&](const char* name) { return static_cast<unsigned>(fs::status(root / name).permissions()); };
  EXPECT_EQ(mode("key"), 0600u);
  EXPECT_EQ(mode("tool"), 0700u);
  EXPECT_EQ(mode("root"), 0700u);
  EXPECT_EQ(mode("all"), 0644u);
  EXPECT_EQ(mode("users"), ::geteuid() == 0 ? 0644u : 0600u) << "root's sandbox runs as another user";
  ASSERT_TRUE(make_folders(path("folder")));
  file("folder/key", "k");
  ASSERT_EQ(::chmod(path("folder/key").c_str(), 0600), 0);
  EXPECT_EQ(fs::status(root_of(path("folder").string()) / "key").permissions(), fs::perms(0600));
}

TEST_F(ImageImport, RefusesWhatIsNoLayer) {
  refused(layout({TarMaker().file("a/.wh.b/c", "").bytes()}));
  refused(file("a.tar", TarMaker().file("a/.wh.b/c", "").bytes()));
  // The link would outlive the white-out.
  refused(
      layout({TarMaker().file("old", "o").bytes(), TarMaker().hard_link("new", "old").file(".wh.old", "").bytes()}));
}

TEST_F(ImageImport, TakesNoDamagedImageForARootFileSystem) {
  std::string saved = make_saved({TarMaker().file("etc/a", "a").bytes()});
  saved[saved.find("[{\"Config")] = 'x';
  EXPECT_NE(refused(file("saved.tar", saved)).find("manifest.json"), std::string::npos);
  saved[saved.find("x{\"Config")] = '[';
  saved.replace(saved.find("\"Layers\""), 8, "\"Lawyer\"");
  EXPECT_NE(refused(file("saved.tar", saved)).find("manifest.json"), std::string::npos);
  layout({TarMaker().file("etc/a", "a").bytes()});
  fs::remove(path("layout/oci-layout"));
  EXPECT_NE(refused(path("layout").string()).find("oci-layout"), std::string::npos);
  EXPECT_NE(refused(file("cut.tar", TarMaker().file("etc/a", "a").without_end())).find("end"), std::string::npos);
}

TEST_F(ImageImport, TakesNoRootFileSystemForAnImage) {
  // As `podman save --format docker-dir` makes it.
  const std::string folder = R"({"schemaVersion":2,"config":{},"layers":[{"digest":"sha256:ab"}]})";
  EXPECT_NE(
      refused(file("dir.tar", TarMaker().file("manifest.json", folder).file("ab", "x").bytes())).find("docker-archive"),
      std::string::npos);
  for (const char* text : {"// with comments\n{}", R"([{"name":"app"}])", R"({"schemaVersion":1,"layers":[]})", "[]"}) {
    const std::string from = file("root.tar", TarMaker().file("etc/a", "a").file("manifest.json", text).bytes());
    EXPECT_EQ(this->text(root_of(from) / "manifest.json"), text);
  }
  EXPECT_TRUE(is_there(root_of(file("root.tar", TarMaker().folder("usr").folder("manifest.json").bytes())) / "usr"));
  EXPECT_TRUE(is_there(root_of(file("root.tar", TarMaker().folder("usr").folder("blobs/sha256").bytes())) / "usr"));
}

TEST_F(ImageImport, LeavesNothingOutThatComesAfterAnEnd) {
  // A part that was never fetched.
  std::string hole = TarMaker().file("a", "a").file("b", std::string(5000, 'b')).file("c", "c").bytes();
  hole.replace(1024, 512, std::string(512, '\0'));
  refused(file("hole.tar", hole));
  const std::string first = TarMaker().file("a", "a").bytes();
  const std::string root = root_of(file("two.tar", first + TarMaker().file("b", "b").bytes()));
  EXPECT_EQ(text(fs::path(root) / "b"), "b");
}

TEST_F(ImageImport, WaitsForAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream pipe(path("pipe"), std::ios::binary);
    const std::string bytes = TarMaker().file("a", "a").bytes();
    pipe << bytes.substr(0, 600) << std::flush;
    ::usleep(200'000);
    pipe << bytes.substr(600);
  });
  EXPECT_EQ(text(root_of(path("pipe").string()) / "a"), "a");
  writer.join();
}

// The libraries that read archives are large, and so are the faults that they have had.
TEST_F(ImageImport, ItsReaderCanDoNothingElse) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::string states;
  std::thread writer([&] {
    std::ofstream pipe(path("pipe"), std::ios::binary);
    const std::string bytes = TarMaker().file("a", "a").bytes();
    pipe << bytes.substr(0, 600) << std::flush;
    ::usleep(200'000);
    for (const auto& task : fs::directory_iterator("/proc/self/task")) {
      std::ifstream children(task.path() / "children");
      for (std::string child; children >> child;) {
        std::ifstream status("/proc/" + child + "/status");
        for (std::string line; std::getline(status, line);) {
          if (line.starts_with("Seccomp:") || line.starts_with("NoNewPrivs:")) states += line;
        }
      }
    }
    pipe << bytes.substr(600);
  });
  EXPECT_EQ(text(root_of(path("pipe").string()) / "a"), "a");
  writer.join();
  EXPECT_EQ(states, "NoNewPrivs:\t1Seccomp:\t2");
}

TEST_F(ImageImport, WaitsForWhoeverWritesThePipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] {
    ::usleep(300'000);
    std::ofstream(path("pipe"), std::ios::binary) << TarMaker().file("a", "a").bytes();
  });
  EXPECT_EQ(text(root_of(path("pipe").string()) / "a"), "a");
  writer.join();
}

TEST_F(ImageImport, StopsWaitingForAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread stop([&] {
    ::usleep(100'000);
    cancel_.cancel();
  });
  const auto plan = import(path("pipe").string());
  stop.join();
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code(), ErrorCode::cancelled) << plan.error().to_string();
}

TEST_F(ImageImport, SaysHowToMakeItAgain) {
  const auto plan = import(file("a b.tar", TarMaker().file("etc/a", "a").bytes()));
  ASSERT_TRUE(plan) << plan.error().to_string();
  const std::string command = fmt::format("guard image import mine '{}'", path("a b.tar").string());
  EXPECT_EQ(made_by(*plan), command);
  ImageRecord made = *plan;
  made.source = "template python with git jq";
  EXPECT_EQ(made_by(made), "guard image build --template python mine --package git --package jq");
  made.source = "template";
  EXPECT_EQ(made_by(made), "guard image import mine 'template'");
  made.source = "template bun";
  EXPECT_EQ(made_by(made), "guard image build --template bun mine");
  StringSink out;
  const auto written = write_image_archive(plan->root_folder,
      {.sha256_hex = std::string(64, 'a'), .bytes = plan->layer_bytes, .made_by = made_by(*plan)}, "{}", "x:y", out,
      cancel_);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().hint().find(command), std::string::npos) << written.error().to_string();
  ASSERT_TRUE(remove_cached_images(*list_cached_images(), cancel_));
  const auto held = hold_image(*plan);
  ASSERT_FALSE(held);
  EXPECT_NE(held.error().hint().find(command), std::string::npos) << held.error().to_string();
}

TEST_F(ImageImport, SourcesAreText) {
  ASSERT_TRUE(make_folders(path("r\xff")));
  file("r\xff/a", "a");
  refused(path("r\xff").string());
  refused("docker://\xff");
}

TEST_F(ImageImport, PackagesAreNames) {
  for (const char* name : {"git-", "git+", "-y", "--help", "git=1", "git/sid", "Git", "g", "g t", "", "?essential"}) {
    const auto plan = build_debian_image({.name = "mine", .packages = {name}}, {}, cancel_, {});
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code(), ErrorCode::input_invalid) << name;
  }
  EXPECT_EQ(build_debian_image({.name = "mine", .packages = {"libstdc++6", "0ad"}}, {}, cancel_, {}).error().code(),
      ErrorCode::dependency_unsatisfied);
}

TEST_F(ImageImport, CopiesAFolder) {
  ASSERT_TRUE(make_folders(path("root/etc")));
  file("root/etc/a", "a");
  fs::create_symlink("/etc/a", path("root/link"));
  ASSERT_EQ(::mkfifo(path("root/pipe").c_str(), 0600), 0);
  ASSERT_EQ(::chmod(path("root/etc/a").c_str(), 04711), 0);
  const auto plan = import(path("root").string());
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(fs::read_symlink(plan->root_folder / "link"), "/etc/a");
  EXPECT_EQ(fs::status(plan->root_folder / "etc/a").permissions(), fs::perms(0755));
  EXPECT_FALSE(is_there(plan->root_folder / "pipe"));
  fs::create_directories(path("bare"));
  EXPECT_NE(import(temp_->path().string()).error().to_string().find("guard's own cache"), std::string::npos);
  EXPECT_NE(import(path("bare").string()).error().to_string().find("no files"), std::string::npos);
}

TEST_F(ImageImport, TheLastOneOfANameCounts) {
  const auto first = import(file("a.tar", TarMaker().file("etc/a", "1").bytes()));
  ASSERT_TRUE(first) << first.error().to_string();
  {
    const auto held = hold_image(*first);
    ASSERT_TRUE(held);
    ::usleep(2000);
    ASSERT_TRUE(import(file("b.tar", TarMaker().file("etc/a", "2").bytes())));
    EXPECT_TRUE(is_there(first->root_folder)) << "a session uses it";
    const auto found = find_imported("mine", {});
    ASSERT_TRUE(found) << found.error().to_string();
    EXPECT_EQ(text(found->root_folder / "etc/a"), "2");
    const auto runtime = runtime_image(*found);
    ASSERT_TRUE(runtime);
    EXPECT_FALSE(runtime->has_attestation);
  }
  ::usleep(2000);
  ASSERT_TRUE(import(path("a.tar").string()));
  EXPECT_EQ(left(), 1u);
  EXPECT_EQ(find_imported("other", {}).error().code(), ErrorCode::image_missing);
  EXPECT_EQ(import_image({.name = "../x", .from = "y"}, cancel_, {}).error().code(), ErrorCode::input_invalid);
}

// What was killed is no image; the next import removes it.
TEST_F(ImageImport, LeavesNoImageWhenItIsKilled) {
  const std::string layer = TarMaker().file("etc/a", "a").bytes();
  const std::string from = layout({layer, layer});
  for (const std::string at : {"layer 2 of 2", "computing digests"}) {
    const pid_t child = ::fork();
    if (child == 0) {
      progress_ = [&](std::string_view line) {
        if (line == at) ::kill(::getpid(), SIGKILL);
      };
      (void)import(from);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << at;
    EXPECT_EQ(left(), 1u);
    const auto images = list_cached_images();
    ASSERT_TRUE(images);
    EXPECT_TRUE(images->empty());
    EXPECT_FALSE(find_imported("mine", {}));
    EXPECT_EQ(list_unfinished_images()->size(), 1u);
    refused(path("nowhere").string(), ErrorCode::file_not_found);
  }
}

// Loaded into the engine, saved by it, and imported again: the same files.
TEST_F(ImageImport, TakesAnImageOfTheEngine) {
  GUARD_NEEDS_TEST_ENGINE();
  const docker::Endpoint engine = test_engine_socket();
  const auto first =
      import(file("a.tar", TarMaker().file("etc/a", "a").file("bin/b", "b", 0755).link("l", "/x").bytes()));
  ASSERT_TRUE(first) << first.error().to_string();
  const auto loaded = load_into_engine(*first, engine, cancel_, {});
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  const auto again =
      import_image({.name = "again", .from = "docker://" + loaded->reference, .engine = engine}, cancel_, {});
  EXPECT_TRUE(remove_from_engine(first->digest, ImageInputs().name, engine, cancel_));
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->layer_sha256, first->layer_sha256) << "the same files with the same times";
  struct stat kept {};
  ASSERT_EQ(::stat((again->root_folder / "etc/a").c_str(), &kept), 0);
  EXPECT_EQ(kept.st_mtim.tv_sec, 1'700'000'000);
  EXPECT_EQ("sha256:" + again->config_sha256, loaded->id);
  const auto missing = import_image({.name = "x", .from = "docker://guard-test/none:1", .engine = engine}, cancel_, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::image_missing);
  EXPECT_NE(missing.error().to_string().find("docker pull 'guard-test/none:1'"), std::string::npos);
  for (const char* name : {"docker://", "docker://--help", "docker://A B"}) {
    const auto refused = import_image({.name = "x", .from = name, .engine = engine}, cancel_, {});
    EXPECT_EQ(refused.error().code(), ErrorCode::input_invalid) << name;
  }
  EXPECT_EQ(missing.error().to_string().find("docker.image"), std::string::npos) << "no key of a session's image";
}

// Pushed to a registry, forgotten by the engine, pulled for the import by its tag and by its digest.
TEST_F(ImageImport, TakesAnImageOfARegistry) {
  GUARD_NEEDS_TEST_REGISTRY();
  const docker::Endpoint engine = test_engine_socket();
  const auto registry = testing::ImageRegistry::start(testing::RegistryLogin::none);
  ASSERT_TRUE(registry);
  ASSERT_TRUE(make_folders(path("docker")));
  const auto docker = [&](std::vector<std::string> words) { return testing::docker_command(path("docker"), words); };
  const std::string repository = registry->host() + "/tools/tiny";
  const std::string lower = TarMaker().file("etc/a", "a").file("etc/b", "b").bytes();
  file("lower.tar", lower);
  file("Dockerfile", "FROM scratch\nADD lower.tar /\n");
  docker({"build", "--tag", repository + ":1", "--file", path("Dockerfile").string(), temp_->path().string()});
  docker({"push", repository + ":1"});
  const std::string id = docker({"inspect", "--format", "{{.Id}}", repository + ":1"});
  std::string digest = docker({"inspect", "--format", "{{index .RepoDigests 0}}", repository + ":1"});
  digest.pop_back();
  for (const std::string& reference : {repository + ":1", digest}) {
    docker({"rmi", "--force", id.substr(0, id.size() - 1)});
    const ImportRequest request{.name = "mine", .from = "docker://" + reference, .engine = engine};
    EXPECT_EQ(import_image(request, cancel_, {}).error().code(), ErrorCode::image_missing);
    ImportRequest pulling = request;
    pulling.pull = PullImage::if_missing;
    const auto plan = import_image(pulling, cancel_, {});
    ASSERT_TRUE(plan) << plan.error().to_string();
    EXPECT_EQ("sha256:" + plan->config_sha256 + "\n", id);
    EXPECT_EQ(text(plan->root_folder / "etc/b"), "b");
    EXPECT_EQ(left(), 1u);
  }
  docker({"rmi", "--force", id.substr(0, id.size() - 1)});
  ImportRequest wrong{.name = "x", .from = "docker://" + repository + "@sha256:" + std::string(64, '0')};
  wrong.engine = engine;
  wrong.pull = PullImage::if_missing;
  EXPECT_EQ(import_image(wrong, cancel_, {}).error().code(), ErrorCode::image_pull_failed);
}

// As many as a large project with its node_modules has; a tenth of that unless GUARD_TEST_MANY_FILES is set (./dev
// soak).
TEST_F(ImageImport, TakesManyFiles) {
  const int count = std::getenv("GUARD_TEST_MANY_FILES") != nullptr ? 100'000 : 10'000;
  TarMaker layer;
  for (int number = 0; number < count; ++number)
    layer.file(fmt::format("srv/{:03}/{:03}", number / 1000, number % 1000), number % 100 == 0 ? "x" : "");
  const auto plan = import(layout({layer.bytes()}));
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(text(plan->root_folder / "srv/009/900"), "x");
  int found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(plan->root_folder / "srv"))
    found += entry.is_regular_file();
  EXPECT_EQ(found, count);
}

}  // namespace
}  // namespace guard
