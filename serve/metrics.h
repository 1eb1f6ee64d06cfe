// What is known of sessions, as documents and in the text format of Prometheus
// (https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sessions/manager.h"

namespace guard::serve {

std::string metrics_text(const sessions::Stats& stats);
nlohmann::ordered_json stats_json(const sessions::Stats& stats);
nlohmann::ordered_json entry_json(const sessions::Entry& entry);

}  // namespace guard::serve
