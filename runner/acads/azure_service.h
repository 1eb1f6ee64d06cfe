// One service of Azure, spoken to over HTTPS: the session pool, or who hands out tokens for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/cancel.h"
#include "common/environment.h"
#include "common/result.h"
#include "common/time.h"
#include "docker/endpoint.h"
#include "docker/http_connection.h"

namespace guard::acads {

// What no message may show: tokens and what they are got with.
class Secrets {
 public:
  void add(std::string value);
  std::string hidden(std::string bytes) const;
  std::string shown(std::string_view foreign) const;  // hidden, printable and short, for a sentence

 private:
  std::vector<std::string> values_;
};

struct Service {
  docker::Endpoint endpoint;
  std::string host;  // as in the head of a request
  std::string path;  // what stands in front of each target; no '/' at its end
  std::string url;   // for sentences
  std::string variable;
};

// plain_nearby: also http to the loopback or a link-local address, where a machine's own identity is asked for.
enum class Scheme : std::uint8_t { https, plain_nearby };

// At what `variable` says, else at `otherwise`. Certificates are signed by who is in the system's list, or in the file
// SSL_CERT_FILE. CONFIG_INVALID.
Result<Service> find_service(const Environment& environment, std::string_view variable, std::string_view otherwise,
    Scheme scheme, std::string_view peer);

// ASCII without spaces and control characters: a URL, or the value of a header field, can hold it.
bool is_visible(std::string_view text);

struct Call {
  std::string_view method = "GET";
  std::string target = {};  // behind the service's path; encoded
  std::string_view content_type = {};
  std::string body = {};
  std::vector<std::pair<std::string_view, std::string>> fields = {};
  bool repeatable = true;  // else a 503 is final: it may have been done
  std::uint64_t answer_bytes_max = 4u << 20;
  docker::HttpConnection::BodySink take = {};  // of the body of a 200
};

// The answer, whatever its status, but for 429 and, of what is repeatable, 503: those are asked again after
// Retry-After, or a time that doubles, while `deadline` allows it; then ENVIRONMENT_UNAVAILABLE (detail "limit").
// Redirects are not followed. Else fails as HttpConnection does.
Result<docker::HttpAnswer> call(const Service& service, const Call& call, Deadline deadline, const CancelToken& cancel);

}  // namespace guard::acads
