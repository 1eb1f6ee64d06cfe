// Which cached images may go: by who has used them and who still asks for them.
#include "pipeline/run/image_upkeep.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "common/file_io.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::system_clock;
using std::chrono::days;

CachedImage image(std::string digest, std::vector<fs::path> projects, bool complete = true) {
  CachedImage made;
  made.digest = std::move(digest);
  made.complete = complete;
  made.projects = std::move(projects);
  return made;
}

// "a!" goes, "a" stays.
std::string fates(
    std::vector<CachedImage> images, const fs::path& project, std::map<fs::path, std::optional<std::string>> wanted) {
  std::string text;
  for (const auto& fate :
      fates_of_images(std::move(images), project, [&](const fs::path& asked) { return wanted.at(asked); })) {
    EXPECT_FALSE(fate.why.empty());
    text += (text.empty() ? "" : " ") + fate.image.digest + (fate.goes ? "!" : "");
  }
  return text;
}

TEST(ImageUpkeep, TakesWhatThisProjectNeedsNoMore) {
  const std::map<fs::path, std::optional<std::string>> wanted = {
      {"/mine", "new"}, {"/other", "shared"}, {"/gone", ""}, {"/torn", std::nullopt}};
  const std::vector<CachedImage> images = {image("new", {"/mine"}), image("old", {"/mine"}),
      image("shared", {"/other", "/mine"}), image("theirs", {"/other"}), image("left", {"/gone"}),
      image("both", {"/gone", "/mine"}), image("unsure", {"/mine", "/torn"}), image("nobody", {}),
      image("half", {"/mine"}, false)};
  EXPECT_EQ(fates(images, "/mine", wanted), "new old! shared both! unsure half!");
  EXPECT_EQ(fates(images, "", wanted), "new old! shared theirs! left! both! unsure nobody! half!");
}

TEST(ImageUpkeep, TakesByItselfWhatNobodyHasUsedForLong) {
  const Clock::time_point now = Clock::now();
  std::vector<CachedImage> images = {
      image("fresh", {"/a"}), image("old", {"/a"}), image("kept", {"/a"}), image("ahead", {})};
  images[0].used = now - days(29);
  images[1].used = now - days(30);
  images[2].used = now - days(300);
  images[3].used = now + days(300);  // a clock that was wrong
  const auto going = unused_images(images, "kept", days(30), now);
  ASSERT_EQ(going.size(), 1u);
  EXPECT_EQ(going[0].image.digest, "old");
  EXPECT_TRUE(unused_images(images, "kept", days(0), now).empty());
}

// A person has made them by hand, and no lockfile can say that they are needed.
TEST(ImageUpkeep, TakesAnImageForSessionsOnlyWhenItWasImportedAgain) {
  std::vector<CachedImage> images = {image("old", {"/mine"}), image("new", {}), image("other", {})};
  images[0].name = images[1].name = "python";
  images[2].name = "tools";
  images[0].imported = "2030-01-01T00:00:00.000Z";
  images[1].imported = images[2].imported = "2030-01-02T00:00:00.000Z";
  EXPECT_EQ(fates(images, "/mine", {}), "old!");
  EXPECT_EQ(fates(images, "", {}), "old! new other");
  EXPECT_TRUE(unused_images(images, "", days(1), Clock::now()).empty());
}

TEST(ImageUpkeep, AsksAProjectOnceAndLeavesWhatItCannotTell) {
  auto temp = TempDir::create();
  ASSERT_TRUE(temp);
  int asked = 0;
  const WantedImage wanted = wanted_image([&](const fs::path& project) {
    ++asked;
    ConfigSources sources;
    sources.search_from = project;
    return sources;
  });
  EXPECT_EQ(wanted(temp->path() / "gone"), "");
  ASSERT_TRUE(write_file_atomically(temp->path() / "package.json", "{"));
  asked = 0;
  EXPECT_EQ(wanted(temp->path()), std::nullopt);
  EXPECT_EQ(wanted(temp->path()), std::nullopt);
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace guard
