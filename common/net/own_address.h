// Whether an address is one of this machine's own, by whichever interface.
#pragma once

#include "common/net/ip_address.h"

namespace guard {

// The kernel's answer of now: a packet to such an address has it as its source, too. Nothing is sent. True as well
// where the kernel can't be asked. Of loopback only those are found that lo has by name: 127.0.0.1, not 127.1.2.3.
bool is_own_address(const IpAddress& address) noexcept;

}  // namespace guard
