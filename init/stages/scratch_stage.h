// What guard-init does before bubblewrap, when it is started with --scratch-at: the folders in memory.
//
//   guard-init --scratch-at FOLDER --prepared FD --plain FD [--scratch MODE:BYTES:FILES]... [--mask PATH]...
//              -- BWRAP INIT [ARG...]
//
// bubblewrap can give a tmpfs a size, but no limit of files, and can't mount it noexec. So they are mounted here, in a
// user and mount namespace of our own, as FOLDER/0, FOLDER/1, ... in the order of the options, and bubblewrap is
// executed with the options in descriptor --prepared, which binds them and leaves the rest to
// init/stages/finish_stage.h, which covers each PATH; INIT then loads the filter. FOLDER is an empty folder that stays
// empty for everybody else. Where the kernel gives no such namespace bubblewrap gets the options in --plain instead,
// which do all of it as well as it can; what came of it is told from inside (tmp_files and tmp_noexec of the hello).
//
// The process stays the same one: its parent, its group and its descriptors are bubblewrap's.
#pragma once

namespace guard::init {

// Returns an exit status only when BWRAP could not be executed.
int run_scratch_stage(int argc, char** argv);

}  // namespace guard::init
