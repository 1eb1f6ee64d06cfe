// A test that runs in each sandbox that is to be had here: the embedded one as root and as an ordinary user, an
// engine's, and gVisor.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "docker/engine_client.h"
#include "runner/sandbox/namespace_sandbox.h"
#include "runner/tasks/open_sandbox.h"
#include "tests/support/engine/test_engine.h"
#include "tests/support/runner/program_image.h"
#include "tests/support/runner/sandbox_fixture.h"

namespace guard::testing {

enum class Where { docker, namespace_as_we_are, namespace_as_user, runsc, podman };

inline std::string name_of(const ::testing::TestParamInfo<Where>& tested) {
  switch (tested.param) {
    case Where::docker: return "Docker";
    case Where::namespace_as_we_are: return "Namespace";
    case Where::namespace_as_user: return "NamespaceAsUser";
    case Where::runsc: return "Runsc";
    case Where::podman: return "Podman";
  }
  return "";
}

inline auto everywhere() {
  return ::testing::Values(Where::docker, Where::namespace_as_we_are, Where::namespace_as_user, Where::runsc);
}

class EverySandbox : public SandboxFixture, public ::testing::WithParamInterface<Where> {
 protected:
  // What an engine's image has to hold in /bin, and where it lies here.
  virtual std::vector<std::filesystem::path> programs() const = 0;

  void SetUp() override {
    SandboxFixture::SetUp();
    for (const auto& program : programs()) {
      std::filesystem::copy_file(
          program, root() / "bin" / program.filename(), std::filesystem::copy_options::skip_existing);
    }
    if (in_container()) {
      if (GetParam() == Where::podman && socket().empty()) {
        if (std::getenv("GUARD_TEST_REQUIRE_PODMAN") != nullptr) FAIL() << "GUARD_TEST_PODMAN_SOCKET is not set";
        GTEST_SKIP() << "needs a private podman service: set GUARD_TEST_PODMAN_SOCKET";
      }
      GUARD_NEEDS_TEST_ENGINE();
      if (GetParam() == Where::runsc && !has_runsc() && std::getenv("GUARD_TEST_REQUIRE_RUNSC") != nullptr)
        FAIL() << "no runsc";
      if (GetParam() == Where::runsc && !has_runsc()) GTEST_SKIP() << "the engine knows no runtime called runsc";
      std::map<std::string, std::filesystem::path> held;
      for (const auto& program : programs()) held["bin/" + program.filename().string()] = program;
      const auto id = load_program_image(engine_, kImage, held);
      ASSERT_TRUE(id) << id.error().to_string();
      image_id_ = *id;
    } else if (const auto probe = make_namespace_sandbox()->probe(Deadline::after(milliseconds(20'000)));
               probe.state != ProbeState::available) {
      if (std::getenv("GUARD_TEST_REQUIRE_NAMESPACE") != nullptr) FAIL() << probe.reason;
      GTEST_SKIP() << "no embedded sandbox here: " << probe.reason;
    }
  }

  void TearDown() override {
    if (image_id_.empty()) return;
    EXPECT_TRUE(engine_.remove_image(kImage, Deadline::after(milliseconds(60'000))));
  }

  bool in_container() const {
    return GetParam() == Where::docker || GetParam() == Where::runsc || GetParam() == Where::podman;
  }

  static std::string socket() { return GetParam() == Where::podman ? test_podman_socket() : test_engine_socket(); }

  bool has_runsc() {
    const auto info = engine_.engine_info(Deadline::after(milliseconds(10'000)));
    return info && std::find(info->runtimes.begin(), info->runtimes.end(), "runsc") != info->runtimes.end();
  }

  Result<ExecResult> run(SandboxSpec wanted) {
    out_.text.clear();
    err_.text.clear();
    if (!in_container()) return make_namespace_sandbox()->run(wanted, out_, err_, cancel_);
    wanted.image = {kImage, image_id_, {}};
    const std::string runtime = GetParam() == Where::runsc ? "runsc" : "";
    return make_docker_sandbox({socket(), runtime, milliseconds(10'000)})->run(wanted, out_, err_, cancel_);
  }

  Result<std::unique_ptr<OpenSandbox>> open_in(SandboxSpec wanted) {
    if (!in_container()) return make_namespace_sandbox()->open(wanted, cancel_);
    wanted.image = {kImage, image_id_, {}};
    const std::string runtime = GetParam() == Where::runsc ? "runsc" : "";
    return make_docker_sandbox({socket(), runtime, milliseconds(10'000)})->open(wanted, cancel_);
  }

  void each(const std::function<void()>& body) {
    run_as(GetParam() == Where::namespace_as_user ? As::ordinary_user : As::ourselves, body);
  }

 private:
  const std::string kImage = "guard-test-everywhere:" + std::to_string(::getpid());
  CancelToken never_;
  docker::EngineClient engine_{socket(), never_};
  std::string image_id_;
};

}  // namespace guard::testing
