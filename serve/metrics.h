// What is known of sessions, as documents and in the text format of Prometheus
// (https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sessions/manager.h"

namespace guard::serve {

// What is counted beside sessions, by a label of guard's own. Thread-safe.
class Counts {
 public:
  enum class Family : std::uint8_t { runs, findings, redactions, connections };
  void add(Family family, const std::string& label, std::uint64_t count = 1);

 private:
  friend std::string metrics_text(const sessions::Stats& stats, const Counts& counts);
  mutable std::mutex mutex_;
  std::map<Family, std::map<std::string, std::uint64_t>> counts_;
};

std::string metrics_text(const sessions::Stats& stats, const Counts& counts = {});
nlohmann::ordered_json stats_json(const sessions::Stats& stats);
nlohmann::ordered_json entry_json(const sessions::Entry& entry);

}  // namespace guard::serve
