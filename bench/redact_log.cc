// The redactor beside a pipe: bytes per second on a log of 100 MB with 2,000 secrets, in pieces of 64 KB inside this
// process, and of `cat LOG | cat` in the same run, turn by turn.
//
//   redact_log FOLDER        writes FOLDER/redact_log.txt (once) and prints both and their ratio
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "redact/kinds/secret_source.h"
#include "redact/redactor.h"
#include "rules/rule_set.h"

namespace guard {
namespace {

constexpr std::size_t kLogBytes = 100'000'000;
constexpr std::size_t kSecrets = 2000;
constexpr std::size_t kReadBytes = 65536;

class CountingSink final : public ByteSink {
 public:
  Result<void> push(std::span<const char> bytes) override {
    count += bytes.size();
    return ok();
  }
  Result<void> finish() override { return ok(); }
  std::size_t count = 0;
};

std::string random_text(std::mt19937& random, std::size_t size, std::string_view alphabet) {
  std::string text;
  while (text.size() < size) text += alphabet[random() % alphabet.size()];
  return text;
}

constexpr std::string_view kAlnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kHex = "0123456789abcdef";

// Built from parts, so that no scanner takes this file for one that holds secrets.
std::string secret(std::mt19937& random) {
  switch (random() % 6) {
    case 0: return std::string("key sk-") + "ant-api03-" + random_text(random, 93, kAlnum) + "AA";
    case 1: return std::string("remote: gh") + "p_" + random_text(random, 36, kAlnum);
    case 2:
      return std::string("AWS_ACCESS_KEY_ID=AK") + "IA" + random_text(random, 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
    case 3: return std::string("Authorization: Bearer ") + random_text(random, 40, kAlnum);
    case 4:
      return std::string("token ey") + "J" + random_text(random, 40, kAlnum) + ".ey" + "J" +
          random_text(random, 120, kAlnum) + "." + random_text(random, 43, kAlnum);
    default: return std::string("postgres://app:") + random_text(random, 20, kAlnum) + "@db.internal:5432/main";
  }
}

// What test runs, servers and builds print: words, numbers, paths, hashes, and a coloured line in every eight.
std::string line(std::mt19937& random) {
  static constexpr std::string_view kWords[] = {"request", "finished", "for", "user", "cache", "miss", "compiling",
      "module", "loaded", "in", "the", "component", "render", "update", "failed", "expected", "received", "worker",
      "queue", "status", "connection", "closed", "by", "peer", "warning", "deprecated", "option", "use", "instead",
      "build", "output", "written", "to", "chunk", "asset", "size", "test", "suite", "passed", "snapshot", "items",
      "order", "total"};
  const auto words = [&](std::size_t count) {
    std::string text;
    for (; count > 0; --count) text += (text.empty() ? "" : " ") + std::string(kWords[random() % std::size(kWords)]);
    return text;
  };
  const auto number = [&](unsigned below) { return std::to_string(random() % below); };
  switch (random() % 8) {
    case 0:
      return "2024-05-0" + number(9) + "T12:" + number(59) + ":03." + number(999) + "Z INFO  [worker-" + number(16) +
          "] GET /api/v2/items/" + number(99999) + "?page=" + number(9) + " took " + number(900) + " ms (status 200, " +
          number(90000) + " bytes)";
    case 1: return "(pass) " + words(4) + " > " + words(5) + " [" + number(20) + "." + number(99) + "ms]";
    case 2:
      return "      at " + words(1) + " (/app/src/" + words(1) + "/" + words(1) + ".ts:" + number(400) + ":" +
          number(80) + ")";
    case 3: return "\x1b[32m\xE2\x9C\x93\x1b[0m " + words(6) + " \x1b[2m[" + number(9) + ".03ms]\x1b[0m";
    case 4: return "commit " + random_text(random, 40, kHex) + " " + words(8);
    case 5:
      return "  const " + words(1) + " = await " + words(1) + "(\"" + words(2) + "\", { retries: " + number(5) +
          ", timeout: " + number(9000) + " });";
    case 6: return "WARN  " + words(14);
    default:
      return "[" + number(300) + "/300] " + words(2) + " src/components/" + words(1) + "_" + words(1) +
          ".tsx -> dist/" + words(1) + "." + random_text(random, 8, kHex) + ".js";
  }
}

std::string make_log() {
  std::mt19937 random(7);
  std::string text;
  text.reserve(kLogBytes + 4096);
  std::size_t secrets = 0;
  while (text.size() < kLogBytes) {
    text += line(random);
    if (text.size() / (kLogBytes / kSecrets) > secrets) {
      ++secrets;
      text += " " + secret(random);
    }
    text += '\n';
  }
  return text;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double redact_once(const SecretSource& secrets, const std::string& log, std::uint64_t& found) {
  const auto begin = std::chrono::steady_clock::now();
  CountingSink sink;
  auto redactor = Redactor::create(secrets, sink);
  if (!redactor) std::abort();
  for (std::size_t at = 0; at < log.size(); at += kReadBytes) {
    if (!redactor->push(std::string_view(log).substr(at, kReadBytes))) std::abort();
  }
  if (!redactor->finish()) std::abort();
  found = 0;
  for (const auto& [kind, count] : redactor->counts()) found += count;
  return seconds_since(begin);
}

double pipe_once(const std::string& path) {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "cat \"$0\" | cat >/dev/null", path.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) std::abort();
  return seconds_since(begin);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int run(const std::string& folder) {
  const std::string path = folder + "/redact_log.txt";
  std::string log;
  if (std::ifstream existing(path, std::ios::binary); existing) {
    std::stringstream all;
    all << existing.rdbuf();
    log = all.str();
  } else {
    log = make_log();
    std::ofstream(path, std::ios::binary) << log;
  }
  auto secrets = SecretSource::shipped();
  if (!secrets) return 1;
  std::vector<double> ours;
  std::vector<double> pipes;
  std::uint64_t found = 0;
  constexpr int kRounds = 9;
  for (int round = 0; round < kRounds; ++round) {
    pipes.push_back(pipe_once(path));
    ours.push_back(redact_once(*secrets, log, found));
  }
  const double mb = static_cast<double>(log.size()) / 1e6;
  std::printf("redactor %.0f MB/s (best %.0f), cat | cat %.0f MB/s (best %.0f), ratio %.2f; %llu secrets\n",
      mb / median(ours), mb / *std::min_element(ours.begin(), ours.end()), mb / median(pipes),
      mb / *std::min_element(pipes.begin(), pipes.end()), median(pipes) / median(ours),
      static_cast<unsigned long long>(found));
  return 0;
}

}  // namespace
}  // namespace guard

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: redact_log FOLDER\n", stderr);
    return 64;
  }
  return guard::run(argv[1]);
}
