// A header that the proxy adds to requests for one host, so that the code behind it needs no key of its own.
//
// Its value is read outside, by whoever made it. It is in no error, no decision and no answer that goes back.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/time.h"
#include "egress/egress_rules.h"

namespace guard {

struct EgressCredential {
  using Read = std::function<Result<std::string>()>;  // may wait; called from any thread, from several at once

  EgressTarget target;
  std::string header;
  std::string prefix;  // before the value: "Bearer "
  Read read;
  milliseconds lifetime{0};          // after which the value is read again; 0: never
  std::string value;                 // load() sets it
  std::vector<std::string> earlier;  // values that answers are still masked for; the last few
  SteadyClock::time_point read_at;

  // `host` is a name or an address with a port or without: then 443. CONFIG_INVALID with a hint: no host, port 80,
  // a header that isn't a token or that frames requests.
  static Result<EgressCredential> create(
      std::string_view host, std::string_view header, std::string_view prefix, Read read, milliseconds lifetime = {});

  // What `read` answers, without its last line end. INPUT_INVALID: it is no value of a header, or has less than 8
  // bytes (all that is so short would be masked). Doesn't change this.
  Result<std::string> read_value() const;
  void take(std::string fresh);
  Result<void> load();
  bool is_old() const;

  std::string header_value() const { return prefix + value; }
  // What answers must not hold: the value's parts, as they are and as JSON and URLs may write them.
  std::vector<std::string> hidden() const;
};

}  // namespace guard
