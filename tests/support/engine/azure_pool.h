// A session pool and token endpoints on this machine, over TLS with a certificate of their own: tests/acads/pool.py.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/environment.h"
#include "common/file_io.h"
#include "runner/process/subprocess.h"

namespace guard::testing {

class AzurePool {
 public:
  static constexpr std::string_view kSecret = "s3cret/of+the&app";
  static constexpr std::string_view kIdentityHeader = "the-header-of-identity";
  static constexpr std::string_view kToken = "eyJ-token-";  // how each begins

  // `host`: who the certificate is made out to.
  explicit AzurePool(std::string_view host = "localhost") : folder_(TempDir::create().value()) {
    make_certificate("server", host);
    ChildSpec spec;
    spec.env = process_environment();
    spec.argv = {
        "python3", GUARD_SOURCE_DIR "/tests/acads/pool.py", path().string(), certificate(), path() / "server.key"};
    auto server = ChildProcess::start(spec);
    EXPECT_TRUE(server) << server.error().to_string();
    if (!server) return;
    server_ = std::move(*server);
    while (!std::filesystem::exists(path() / "ports") && !waited_in_vain())
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const std::string ports = read_file(path() / "ports", 100).value_or("");
    EXPECT_EQ(std::sscanf(ports.c_str(), "%u %u", &secure_port_, &plain_port_), 2) << "the server did not start";
  }

  // `rules` as pool.py says.
  void behave(const nlohmann::json& rules) const {
    EXPECT_TRUE(write_file_atomically(path() / "script", rules.dump()));
  }

  const std::filesystem::path& path() const { return folder_.path(); }
  std::string certificate() const { return path() / "server.pem"; }
  std::string url() const { return fmt::format("https://localhost:{}/pool", secure_port_); }
  std::string plain_url() const { return fmt::format("http://127.0.0.1:{}", plain_port_); }

  Environment environment() const {
    return {{"GUARD_ACADS_ENDPOINT", url()}, {"SSL_CERT_FILE", certificate()}, {"AZURE_TENANT_ID", "tenant.example"},
        {"AZURE_CLIENT_ID", "app"}, {"AZURE_CLIENT_SECRET", std::string(kSecret)},
        {"AZURE_AUTHORITY_HOST", fmt::format("https://localhost:{}", secure_port_)}};
  }

  // What was asked: {"start", "head", "bytes", "body"}.
  std::vector<nlohmann::json> requests(std::string_view start = {}) const {
    std::vector<nlohmann::json> all;
    std::istringstream lines(read_file(path() / "requests", 64u << 20).value_or(""));
    for (std::string line; std::getline(lines, line);) {
      auto request = nlohmann::json::parse(line);
      if (request["start"].get<std::string>().starts_with(start)) all.push_back(std::move(request));
    }
    return all;
  }

  // NAME.pem and NAME.key, signed by itself.
  void make_certificate(std::string_view name, std::string_view host) const {
    ProcessSpec spec;
    spec.env = process_environment();
    spec.argv = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "2", "-subj", "/CN=guard test", "-addext", fmt::format("subjectAltName=DNS:{}", host), "-out",
        (path() / fmt::format("{}.pem", name)).string(), "-keyout", (path() / fmt::format("{}.key", name)).string()};
    const CancelToken never;
    const auto made = collect_process(spec, 1u << 16, never);
    EXPECT_TRUE(made && made->result.outcome.value == 0) << (made ? made->err : made.error().to_string());
  }

 private:
  bool waited_in_vain() { return ++looks_ > 3000; }

  TempDir folder_;
  std::optional<ChildProcess> server_;
  unsigned secure_port_ = 0;
  unsigned plain_port_ = 0;
  int looks_ = 0;
};

}  // namespace guard::testing
