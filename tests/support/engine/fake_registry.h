// A package registry on the loopback interface, good enough for `bun install`: package documents and archives over
// HTTP.
#pragma once

#include <map>
#include <string>
#include <thread>

#include "common/unique_fd.h"

namespace guard::testing {

class FakeRegistry {
 public:
  FakeRegistry();
  ~FakeRegistry();
  FakeRegistry(const FakeRegistry&) = delete;
  FakeRegistry& operator=(const FakeRegistry&) = delete;

  // `archive` is the .tgz. The latest version goes last. Before the first request.
  void publish(const std::string& name, const std::string& version, const std::string& archive);

  std::string url() const;  // "http://127.0.0.1:4873"

 private:
  void serve();
  void answer(int connection) const;

  UniqueFd listener_;
  UniqueFd stop_read_;
  UniqueFd stop_write_;
  int port_ = 0;
  std::map<std::string, std::string> documents_;  // path -> body
  std::map<std::string, std::string> versions_;   // name -> members of "versions"
  std::thread thread_;
};

}  // namespace guard::testing
