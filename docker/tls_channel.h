// TLS to a container engine. The only file behind which OpenSSL's TLS is seen.
//
// Version 1.2 or newer; the engine's certificate is signed by the authority of the endpoint, in force today, and made
// out to the endpoint's host. There is no way to ask for less, and none back to plain TCP.
#pragma once

#include "docker/channel.h"

namespace guard::docker {

// Shakes hands over `socket`, which is connected and non-blocking. `endpoint` has TLS files. ENVIRONMENT_UNAVAILABLE
// with the detail "tls": "files" (ours cannot be used), "certificate" (the engine's is not to be trusted) or
// "handshake".
Result<std::unique_ptr<Channel>> open_tls(
    UniqueFd socket, const Endpoint& endpoint, Deadline deadline, const CancelToken& cancel);

}  // namespace guard::docker
