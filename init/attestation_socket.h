// The socket on which a program attests what its tests have come to (runner/init_side/attestation.mjs), and what init
// looks at in that moment. A pipe could be opened once more through /proc and read by the program; a socket can't.
#pragma once

#include <sys/types.h>

namespace guard::init {

struct AttestationState {
  int socket = -1;  // init's end, to be polled; -1: nothing more is read from it
  bool attested = false;
  bool forged = false;    // somebody wrote there without knowing the key
  bool debugged = false;  // a debugger served the program when it attested
};

// Puts a key where the program can read it once. Returns the program's end.
int offer_secret(AttestationState& state);

enum class Said { nothing, something_forged, attestation };
// Takes one message. An attestation is in the frame then, and is to be sent.
Said read_attestation(AttestationState& state, pid_t program);

}  // namespace guard::init
