// One connection of egress/proxy.h, from its first byte to its decision. Only the proxy sees this.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "egress/http_request.h"
#include "egress/keys/value_mask.h"
#include "egress/nat64.h"
#include "egress/proxy.h"
#include "egress/socks_request.h"
#include "egress/tls/session_authority.h"
#include "egress/tls/tls_layer.h"

namespace guard {

// Of one credential. Code inside can't make guard read it more than once at a time, or soon after that has failed.
struct CredentialRenewal {
  explicit CredentialRenewal(boost::asio::io_context& context) : ended(context, SteadyClock::time_point::max()) {}
  bool running = false;
  boost::asio::steady_timer ended;  // cancelled when it is no longer running
  SteadyClock::time_point not_before;
};

// What the connections of one proxy share. Only its thread uses what changes.
struct EgressShared {
  EgressPolicy policy;
  EgressOptions options;
  std::optional<EgressTarget> upstream;
  std::unique_ptr<SessionAuthority> authority;  // where there are credentials
  TlsContext to_servers;
  HiddenValues hidden;  // in answers: of all hosts, as one may repeat what another one was sent
  CancelToken stop;     // of lookups, and of reading credentials
  std::optional<std::vector<Nat64Prefix>> nat64;  // nothing: not known yet
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  boost::asio::io_context context{1};
  std::deque<CredentialRenewal> renewals;  // as policy.credentials
  boost::asio::thread_pool lookups{8};     // each asks DNS for one name at a time

  void hide_keys();
};

// The status of HTTP that a client is told for `reason`.
unsigned http_status_of(EgressReason reason) noexcept;

class EgressConnection {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  template <typename T>
  using Task = boost::asio::awaitable<T>;

  EgressConnection(EgressShared& shared, Socket client);

  // The whole of it. Afterwards decision() is final.
  Task<void> run();
  // Ends it now, without a word to the client.
  void abandon(EgressReason reason);
  // The sandbox has gone: what it has sent through a tunnel still goes out, for a little while; all else ends now.
  void leave();
  // Ends it where the rules, which have changed, would not let it through, and where they had, but nothing is
  // connected yet: its client asks anew. May throw, and is open then.
  void judge_again();

  const EgressDecision& decision() const noexcept { return decision_; }

 private:
  // How the client is told of a refusal, at this point of what it speaks.
  enum class Tell : std::uint8_t { nothing, http, socks, tls };
  enum class Way : std::uint8_t { up, down };
  using Time = SteadyClock::time_point;

  // Those that answer a bool answer false once the connection has ended, which refuse() or the client did.
  Task<void> serve_and_end();
  Task<void> serve();
  Task<void> serve_socks();
  Task<void> serve_http();
  Task<bool> reach(EgressTarget target);
  Task<bool> find(EgressHost host, std::uint16_t port, std::vector<IpAddress>& addresses);
  Task<Result<std::vector<IpAddress>>> look_up(EgressHost host, bool* ipv6_known = nullptr);
  Task<bool> dial(const std::vector<IpAddress>& addresses, std::uint16_t port);
  Task<bool> connect_to(SocketAddress address, Time by);
  Task<bool> reach_by_upstream(EgressTarget target);
  Task<void> tunnel(EgressTarget target);
  Task<void> send_up(EgressTarget target);
  Task<void> forward(HttpRequest request);
  Task<void> send_body(HttpRequest& request);
  Task<void> send_answer();
  Task<void> serve_within_tls(EgressTarget target);
  Task<bool> take_client_tls(EgressTarget target);
  Task<bool> begin_server_tls(EgressTarget target);
  Task<bool> renew_credentials(EgressTarget target);
  Task<void> renew(EgressCredential& credential, CredentialRenewal& renewal);
  Task<void> forward_with_credentials(HttpRequest request);
  Task<void> send_masked_answer(const HttpRequest& request);
  Task<void> pass_answer(const HttpRequest& request);
  Task<void> wait_for_hangup();
  Task<void> pump(Way way);
  Task<bool> pass(Way way, std::string_view bytes);  // which stay where they are until it has ended
  Task<bool> read_head(std::string& head);
  Task<bool> fill();
  Task<bool> fill(std::size_t until);  // once at least, and until so many bytes are there
  Task<bool> fill_from_server(std::size_t at_most = 4096);
  Task<std::pair<boost::system::error_code, std::size_t>> read_some(Way way, boost::asio::mutable_buffer into);
  Task<boost::system::error_code> write(Way way, std::string_view bytes);
  Task<void> end_sending(Way way);
  Task<bool> tell_client(std::string bytes);
  Task<void> end();
  Task<void> watch();

  Task<void> learn_nat64();

  // Why no name may lead there, in a word or two; empty: it may.
  std::string_view fault_of(const IpAddress& address) const;
  std::vector<IpAddress> inner_addresses(const IpAddress& address) const;
  bool may_dial(const IpAddress& address, std::uint16_t port) const;
  bool check_client_hello(const EgressTarget& target);
  bool check_host(const HttpRequest& request, const EgressTarget& target);
  bool refuse(EgressReason reason, std::string text);
  bool has_credential(const EgressTarget& target) const;
  void note(const EgressTarget& target);
  void moved();
  void leave_the_rest();  // the answer is there: what of the request isn't sent yet stays so
  void act_within(milliseconds span, EgressReason late);
  void drop_connections();
  void last_bytes_only();
  void end_soon(EgressReason reason);
  bool is_delivered();

  EgressShared& shared_;
  Socket client_;
  Socket server_;
  std::unique_ptr<TlsLayer> client_tls_;  // to a host with a credential, once the handshake is done
  std::unique_ptr<TlsLayer> server_tls_;
  std::vector<std::shared_ptr<const EgressCredential::Key>> keys_;  // that the request is sent with
  std::string from_client_;  // read, and not yet used: at most a head and what came with it
  std::string from_server_;
  boost::asio::steady_timer alarm_;
  Time began_ = SteadyClock::now();
  Time act_by_;
  Time end_by_;
  EgressReason late_ = EgressReason::request_time;
  EgressReason at_the_end_ = EgressReason::connection_time;
  Tell tell_ = Tell::nothing;
  SocksReply socks_fault_ = SocksReply::not_allowed;
  bool refused_ = false;
  bool answered_ = false;  // the server has closed after its answer: the client need not send the rest
  bool tunnels_ = false;   // the client has been told that it may send, or is about to be
  bool sent_all_ = false;  // the client has ended, and the server was told
  bool client_gone_ = false;
  bool leaving_ = false;
  bool ending_ = false;
  bool over_ = false;
  EgressDecision decision_;
};

}  // namespace guard
