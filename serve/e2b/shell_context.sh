# A context of the code interpreter: a line "ID COMMANDS" of standard input is run by this very shell, so what it sets
# stays. Then "\036ID STATUS going" or "... ended" is a line of each output, behind what was printed there.
exec 7<&0 8>&1 9>&2 </dev/null
guard_end() {
  for guard_fd in 8 9; do command printf '\036%s %d %s\n' "$guard_id" "$@" >&$guard_fd || kill -9 $$; done
}
trap 'guard_end $? ended' EXIT
while IFS=' ' read -r guard_id guard_line <&7; do
  guard_line=$(command printf '%b_' "$guard_line")
  eval "${guard_line%_}"
  guard_end $? going
done
