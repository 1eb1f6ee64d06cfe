// An imported image is the root of a sandbox that stays, on each backend.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runner/image/image_tools.h"
#include "runner/import/image_import.h"
#include "runner/sandbox/namespace_sandbox.h"
#include "runner/tasks/open_sandbox.h"
#include "tests/support/engine/test_engine.h"
#include "tests/support/runner/every_sandbox.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using testing::Where;

class ImportedSandbox : public testing::SandboxFixture, public ::testing::WithParamInterface<Where> {
 protected:
  // This machine's shell and what it needs.
  void make_source() {
    const auto files = tool_files({"sh", "cat", "touch"});
    ASSERT_TRUE(files) << files.error().to_string();
    for (const LibraryFile& one : *files) {
      fs::create_directories((source() / one.target).parent_path());
      fs::copy_file(one.source, source() / one.target);
    }
    fs::create_directory_symlink("usr/bin", source() / "bin");
    fs::create_directories(source() / "etc");
    std::ofstream(source() / "etc/os-release") << "NAME=tiny\n";
    fs::create_symlink("/etc/os-release", source() / "release");
  }
  fs::path source() const { return folder() / "source"; }

  Result<TaskOutput> shell(const ImagePlan& plan, const std::string& script) {
    GUARD_TRY_ASSIGN(const UniqueFd held, hold_image(plan));
    SandboxSpec wanted = spec({});
    wanted.mounts.clear();
    wanted.scratch.clear();
    const fs::path workspace = cache() / ("workspace-" + wanted.run_id);
    fs::create_directories(workspace);
    struct stat found {};
    EXPECT_EQ(::stat(workspace.c_str(), &found), 0);
    wanted.shared = {{workspace, "/workspace", {found.st_dev, found.st_ino}}};
    wanted.working_dir = "/workspace";
    const bool docker = GetParam() == Where::docker;
    if (docker) {
      GUARD_TRY_ASSIGN(wanted.image, load_into_engine(plan, test_engine_socket(), cancel_, {}));
    } else {
      GUARD_TRY_ASSIGN(wanted.image, runtime_image(plan));
    }
    const auto backend =
        docker ? make_docker_sandbox({test_engine_socket(), "", milliseconds(10'000)}) : make_namespace_sandbox();
    GUARD_TRY_ASSIGN(const auto sandbox, backend->open(wanted, cancel_));
    TaskSpec task;
    task.argv = {"/bin/sh", "-c", script};
    task.env = {{"PATH", "/bin"}};
    return run_task(*sandbox, task, 1 << 16, Deadline::after(milliseconds(30'000)));
  }
};

TEST_P(ImportedSandbox, RunsItsShell) {
  if (GetParam() == Where::docker) GUARD_NEEDS_TEST_ENGINE();
  ASSERT_NO_FATAL_FAILURE(make_source());
  testing::run_as(GetParam() == Where::namespace_as_user ? testing::As::ordinary_user : testing::As::ourselves, [&] {
    const auto plan = import_image({.name = "tiny", .from = source().string()}, cancel_, {});
    ASSERT_TRUE(plan) << plan.error().to_string();
    const auto output = shell(*plan, "echo hi; cat /release; touch /etc/x || touch /workspace/x && touch /tmp/x");
    EXPECT_TRUE(remove_from_engine(plan->digest, ImageInputs().name, test_engine_socket(), cancel_) ||
        GetParam() != Where::docker);
    ASSERT_TRUE(output) << output.error().to_string();
    EXPECT_EQ(output->out, "hi\nNAME=tiny\n") << output->err;
    EXPECT_NE(output->err.find("Read-only file system"), std::string::npos) << output->err;
    EXPECT_EQ(output->end.outcome.value, 0) << output->err;
  });
}

// As an image that was imported by another guard might have it.
TEST_P(ImportedSandbox, FollowsNoLinkInThePlaceOfInit) {
  if (GetParam() == Where::docker) GTEST_SKIP() << "an engine mounts there by itself";
  ASSERT_NO_FATAL_FAILURE(make_source());
  testing::run_as(GetParam() == Where::namespace_as_user ? testing::As::ordinary_user : testing::As::ourselves, [&] {
    const auto plan = import_image({.name = "tiny", .from = source().string()}, cancel_, {});
    ASSERT_TRUE(plan) << plan.error().to_string();
    const fs::path escaped = cache() / "escaped";
    fs::create_symlink("/oldroot" + escaped.string(), plan->root_folder / "guard-init");
    const auto output = shell(*plan, "echo hi");
    EXPECT_FALSE(fs::exists(escaped));
    ASSERT_TRUE(output) << output.error().to_string();
    EXPECT_EQ(output->out, "hi\n") << output->err;
  });
}

INSTANTIATE_TEST_SUITE_P(In, ImportedSandbox,
    ::testing::Values(Where::docker, Where::namespace_as_we_are, Where::namespace_as_user), testing::name_of);

}  // namespace
}  // namespace guard
