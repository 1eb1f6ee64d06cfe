// ares_query() asks for a name as it is, which ares_gethostbyname() and ares_getaddrinfo() don't: they append search
// domains. /etc/hosts is looked at first, by us, so that what stands there is the whole answer.
#include "common/net/name_resolver.h"

#include <ares.h>
#include <arpa/nameser.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>

#include "common/text/characters.h"
#include "common/text/text.h"

namespace guard {
namespace {

constexpr std::size_t kNameBytesMax = 253;  // RFC 1035, as text
constexpr std::size_t kAddressesMax = 64;   // of a family: an answer is of one
constexpr int kOneTryMs = 1'500;            // a lost packet is asked for again within the usual limits of 5 s
constexpr int kTries = 3;
constexpr milliseconds kLook{50};  // at a token without a descriptor

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && name.front() != '.' &&
      name.find("..") == std::string_view::npos && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
      });
}

struct Lookup {
  std::map<ares_socket_t, short> sockets;  // what c-ares waits for
  std::vector<IpAddress> addresses;
  int open = 0;  // questions without an answer
  int failure = ARES_SUCCESS;
  bool ipv6_known = false;
};

struct Question {
  Lookup& lookup;
  int family;
};

void add(std::vector<IpAddress>& addresses, const hostent& host) {
  IpAddress address;
  if (host.h_addrtype == AF_INET6) address.family = IpAddress::Family::v6;
  const std::size_t size = host.h_addrtype == AF_INET6 ? 16 : 4;
  if ((host.h_addrtype != AF_INET6 && host.h_addrtype != AF_INET) || static_cast<std::size_t>(host.h_length) != size)
    return;
  char** one = host.h_addr_list;
  for (std::size_t left = kAddressesMax; left > 0 && *one != nullptr; --left, ++one) {
    std::memcpy(address.bytes.data(), *one, size);
    addresses.push_back(address);
  }
}

extern "C" {
static void guard_on_socket(void* data, ares_socket_t socket, int readable, int writable) noexcept {
  auto& sockets = static_cast<Lookup*>(data)->sockets;
  if (readable == 0 && writable == 0) {
    sockets.erase(socket);
  } else {
    sockets[socket] = static_cast<short>((readable != 0 ? POLLIN : 0) | (writable != 0 ? POLLOUT : 0));
  }
}

static void guard_on_answer(void* data, int status, int, unsigned char* bytes, int size) noexcept {
  auto& question = *static_cast<Question*>(data);
  Lookup& lookup = question.lookup;
  --lookup.open;
  hostent* host = nullptr;
  if (status == ARES_SUCCESS) {
    status = question.family == AF_INET6 ? ::ares_parse_aaaa_reply(bytes, size, &host, nullptr, nullptr)
                                         : ::ares_parse_a_reply(bytes, size, &host, nullptr, nullptr);
  }
  if (question.family == AF_INET6)
    lookup.ipv6_known = status == ARES_SUCCESS || status == ARES_ENODATA || status == ARES_ENOTFOUND;
  if (status == ARES_SUCCESS) {
    add(lookup.addresses, *host);
    ::ares_free_hostent(host);
  } else if (status != ARES_ENODATA) {
    lookup.failure = status;
  }
}
}

class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    if (channel_ != nullptr) ::ares_destroy(channel_);
  }

  Result<void> open(const ResolveOptions& options, Lookup& lookup) {
    static const int library = ::ares_library_init(ARES_LIB_INIT_ALL);
    ares_options settings{};
    settings.flags = ARES_FLAG_NOALIASES;  // no file of names that stand for others (HOSTALIASES)
    settings.timeout = kOneTryMs;
    settings.tries = kTries;
    settings.sock_state_cb = guard_on_socket;
    settings.sock_state_cb_data = &lookup;
    int status = library;
    if (status == ARES_SUCCESS) {
      status = ::ares_init_options(
          &channel_, &settings, ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
    }
    if (status != ARES_SUCCESS) {
      channel_ = nullptr;
      return Error(
          ErrorCode::environment_unavailable, fmt::format("preparing to look up names: {}", ::ares_strerror(status)));
    }
    if (options.dns_servers.empty()) return ok();
    const std::string list = fmt::format("{}", fmt::join(options.dns_servers, ","));
    status = ::ares_set_servers_ports_csv(channel_, list.c_str());
    if (status == ARES_SUCCESS) return ok();
    return Error(
        ErrorCode::config_invalid, fmt::format("{} are no DNS servers: {}", printable(list), ::ares_strerror(status)))
        .hint("name each by its address, with a port where it is not 53: 192.0.2.1, [2001:db8::1]:5353");
  }

  ares_channel get() const noexcept { return channel_; }

 private:
  ares_channel channel_ = nullptr;
};

std::vector<IpAddress> from_hosts_file(ares_channel channel, const std::string& name) {
  std::vector<IpAddress> addresses;
  for (const int family : {AF_INET, AF_INET6}) {
    hostent* host = nullptr;
    if (::ares_gethostbyname_file(channel, name.c_str(), family, &host) != ARES_SUCCESS) continue;
    add(addresses, *host);
    ::ares_free_hostent(host);
  }
  return addresses;
}

Result<void> wait_for_answers(ares_channel channel, Lookup& lookup, Deadline deadline, const CancelToken& cancel) {
  while (lookup.open > 0) {
    if (cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped while looking up a name");
    if (deadline.passed()) return Error(ErrorCode::execution_timeout, "no DNS server answered in time");
    std::vector<pollfd> fds;
    for (const auto& [socket, events] : lookup.sockets) fds.push_back({socket, events, 0});
    fds.push_back({cancel.fd(), POLLIN, 0});
    timeval next{};
    const timeval* wait = ::ares_timeout(channel, nullptr, &next);
    Deadline until = deadline;
    if (wait != nullptr)
      until = until.sooner(Deadline::after(milliseconds(wait->tv_sec * 1000 + wait->tv_usec / 1000 + 1)));
    if (cancel.fd() < 0) until = until.sooner(Deadline::after(kLook));
    if (::poll(fds.data(), fds.size(), until.poll_timeout()) < 0 && errno != EINTR)
      return Error::from_errno(ErrorCode::io_error, "poll", errno);
    fds.pop_back();
    for (const pollfd& one : fds) {
      constexpr short kAlso = POLLERR | POLLHUP;
      ::ares_process_fd(channel, (one.revents & (POLLIN | kAlso)) != 0 ? one.fd : ARES_SOCKET_BAD,
          (one.revents & (POLLOUT | kAlso)) != 0 ? one.fd : ARES_SOCKET_BAD);
    }
    ::ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // what has waited too long
  }
  return ok();
}

}  // namespace

Result<std::vector<IpAddress>> resolve_name(const std::string& name, const ResolveOptions& options, Deadline deadline,
    const CancelToken& cancel, bool* ipv6_known) {
  bool ignored = false;
  bool& known = ipv6_known != nullptr ? *ipv6_known : ignored;
  known = true;
  if (const auto literal = IpAddress::parse(name)) return std::vector{*literal};
  std::string asked = lower_case(name);
  if (asked.ends_with('.')) asked.pop_back();
  if (!is_name(asked)) return Error(ErrorCode::input_invalid, fmt::format("{} is no host name", printable(name)));
  if (asked == "localhost" || asked.ends_with(".localhost"))  // RFC 6761, section 6.3
    return std::vector{*IpAddress::parse("127.0.0.1"), *IpAddress::parse("::1")};

  const std::string what = fmt::format("looking up {}", asked);
  Lookup lookup;
  std::array<Question, 2> questions = {Question{lookup, AF_INET}, Question{lookup, AF_INET6}};
  Channel channel;  // ends before what its callbacks use
  known = false;
  GUARD_TRY(channel.open(options, lookup).context(what));
  if (auto addresses = from_hosts_file(channel.get(), asked); !addresses.empty()) {
    known = true;
    return addresses;
  }
  for (Question& one : questions) {
    ++lookup.open;
    const auto ask = options.search == NameSearch::as_is ? ::ares_query : ::ares_search;
    ask(channel.get(), asked.c_str(), ns_c_in, one.family == AF_INET6 ? ns_t_aaaa : ns_t_a, guard_on_answer, &one);
  }
  // One of the two questions may get no answer, from servers that know nothing of IPv6; the other's is good all the
  // same.
  auto waited = wait_for_answers(channel.get(), lookup, deadline, cancel);
  known = lookup.ipv6_known;
  if (!waited && (lookup.addresses.empty() || waited.error().code() != ErrorCode::execution_timeout))
    return std::move(waited).context(what).error();
  if (lookup.addresses.empty()) {
    const char* why = lookup.failure == ARES_SUCCESS ? "it has no address" : ::ares_strerror(lookup.failure);
    return Error(ErrorCode::environment_unavailable, fmt::format("the host {} cannot be found: {}", asked, why))
        .hint("check the name, and that this machine reaches its DNS servers (/etc/resolv.conf)");
  }
  std::stable_partition(lookup.addresses.begin(), lookup.addresses.end(),
      [](const IpAddress& one) { return one.family == IpAddress::Family::v4; });
  return std::move(lookup.addresses);
}

Result<void> check_options(const ResolveOptions& options) {
  Lookup lookup;
  Channel channel;
  return channel.open(options, lookup);
}

}  // namespace guard
