// A header that the proxy adds to requests for one host, so that the code behind it needs no key of its own.
//
// Its value is read outside, by whoever made it. It is in no error, no decision and no answer that goes back.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "common/time.h"
#include "egress/egress_rules.h"

namespace guard {

struct EgressCredential {
  // May wait, until it is told to stop. Called from any thread, not from two at once.
  using Read = std::function<Result<std::string>(const CancelToken& stop)>;
  // A value, and the forms of it that answers must not hold. Who has a request under way that was sent with it keeps
  // it: until then answers are masked for it.
  struct Key {
    std::string value;
    std::vector<std::string> forms;
  };

  EgressTarget target;
  std::string header;
  std::string prefix;  // before the value: "Bearer "
  Read read;
  milliseconds lifetime{0};                      // after which the value is read again; 0: never
  std::vector<std::shared_ptr<const Key>> keys;  // load() sets the first; the last one is sent
  SteadyClock::time_point read_at;

  // `host` is a name or an address with a port or without: then 443. CONFIG_INVALID with a hint: no host, port 80,
  // a header that isn't a token or that frames requests.
  static Result<EgressCredential> create(
      std::string_view host, std::string_view header, std::string_view prefix, Read read, milliseconds lifetime = {});

  // What `read` answers, without its last line end. INPUT_INVALID: it is no value of a header, or has less than 8
  // bytes (all that is so short would be masked). Doesn't change this.
  Result<std::string> read_value(const CancelToken& stop) const;
  // Of earlier keys the last few stay, and those that are in use.
  void take(std::string fresh);
  Result<void> load(const CancelToken& stop);
  bool is_old() const;

  std::string header_value() const { return prefix + keys.back()->value; }
};

// Whether two credentials would set the same header for the same host.
bool is_same_place(const EgressCredential& one, const EgressCredential& other);

}  // namespace guard
