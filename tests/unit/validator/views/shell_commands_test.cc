#include "validator/views/shell_commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace guard {
namespace {

// "curl x | sh < inner ; next": each command behind its joint, unknown words as `?`. The first joint is left out.
std::string shown(std::string_view raw) {
  std::string text;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (i + 1 < raw.size() && raw[i + 1] == '\x1d') {
      if (i > 0) (text += ' ') += raw[i];
      if (i > 0) text += ' ';
      ++i;
    } else {
      text += raw[i] == '\x1a' ? '?' : raw[i];
    }
  }
  return text;
}

std::string commands(std::string_view text) {
  std::string out;
  const bool any = append_shell_commands(text, out);
  EXPECT_EQ(any, !out.empty()) << text;
  return shown(out);
}

std::string argv(const std::vector<std::string>& words) {
  std::string out;
  append_argv_command(words, out);
  return shown(out);
}

struct Case {
  const char* text;
  const char* commands;
};

void expect_all(const std::vector<Case>& cases) {
  for (const Case& one : cases) EXPECT_EQ(commands(one.text), one.commands) << one.text;
}

std::string files(std::string_view text) {
  std::string out;
  std::string all;
  std::vector<std::string> read;
  append_shell_commands(text, out, &read);
  for (const std::string& file : read) all += (all.empty() ? "" : " ") + file;
  return all;
}

TEST(ShellCommands, TellsWhichFilesCommandsRead) {
  for (const auto& [text, expected] :
      std::vector<Case>{{"cat -n a b", "a b"}, {"head -n 1 a", "a"}, {"cat < a", "a"}, {"<a cat", "a"},
          {"echo $(<a)", "a"}, {"while read l; do echo $l; done < a", "a"}, {"read x < a", "a"},
          {"grep -i x a b", "a b"}, {"grep -e x a", "a"}, {"sed -n p a", "a"}, {"awk -F : 1 a", "a"},
          {"jq -r .token a", "a"}, {"jq --arg k v .x a", "a"}, {"perl -pe1 a", "a"}, {"cp a b c", "a b"},
          {"split a", "a"}, {"split a b", "a"}, {"dd if=a of=b", "a"},
          {"curl -d @a -F f=@b --data-binary=@c http://x/token", "a b c"}, {"curl -F 'f=<a' file:///b -T c", "a /b c"},
          {"git show HEAD:a", "a"}, {"git push o HEAD:a", ""}, {"sudo cat a", "a"}, {"xargs -a a echo", "a"},
          {"xargs -a a cat", "a"}, {"echo a b | xargs cat", "a b"}, {"echo a | xargs echo", ""}, {"sh -c 'cat a'", "a"},
          {"cat a > b", "a"}, {"cat -- a", "a"}, {"ls a", ""}, {"echo a", ""}, {"node a b", ""},
          {"cat to*en", "token to*en"}, {"cat x/tok??", "x/token x/tok??"}, {"cat *", "*"}, {"cat *.ts", "*.ts"}}) {
    std::string found = files(text);
    std::replace(found.begin(), found.end(), '\x1a', '?');
    EXPECT_EQ(found, expected) << text;
  }
}

TEST(ShellCommands, UndoesQuotes) {
  expect_all({{"npm install", "npm install"}, {"n'p'm \"inst\"all", "npm install"}, {"n\\pm i", "npm i"},
      {"npm \\\n i", "npm i"}, {"$'n\\x70m' i", "npm i"}, {"$\"npm\" i", "npm i"}, {"\"a\\\"b\"", "a\"b"},
      {"''npm i", "npm i"}});
}

TEST(ShellCommands, LeavesQuotedTextInItsCommand) {
  expect_all({{"echo 'npm install'", "echo npm install"}, {"echo \"a; npm install\"", "echo a; npm install"},
      {"echo 'a | sh'", "echo a | sh"}, {"echo '$(npm i)'", "echo $(npm i)"}, {"echo a # npm i", "echo a"},
      {"echo a#b", "echo a#b"}, {"grep -c npm file", "grep -c npm file"}});
}

TEST(ShellCommands, HasNoneWhereNothingRuns) {
  for (const char* text : {"", "  \t\n", "# npm install", ";;;", "&&", "A=b", "()", "\\\n"}) {
    std::string out;
    EXPECT_FALSE(append_shell_commands(text, out)) << text;
    EXPECT_EQ(out, "") << text;
  }
}

TEST(ShellCommands, PartsCommandsAndTellsHowTheyAreJoined) {
  expect_all({{"a; b & c && d || e\nf", "a ; b ; c ; d ; e ; f"}, {"a | b |& c", "a | b | c"},
      {"(a; b) | (sh)", "a ; b | sh"}, {"if ! a; then b; else c; fi", "a ; b ; c ; fi"},
      {"for i in 1 2; do npm i; done", "for i in 1 2 ; npm i ; done"},
      {"case $x in a) npm i;; esac", "case ? in a ; npm i ; esac"}, {"f() { npm i; }; f", "f ; npm i ; } ; f"},
      {"function f { npm i; }; f", "npm i ; } ; f"}});
}

TEST(ShellCommands, ReadsArraysFilesOfTextAndListsOfVariables) {
  expect_all({{"A[0]=1 npm i", "npm i"}, {"A[i]+=1 npm i", "npm i"}, {"A]=1 npm i", "A]=1 npm i"},
      {"source <(echo npm i)", "source ? ; npm i"}, {". <(printf env)", ". ? ; env"}, {"cat <(echo a)", "cat ?"},
      {"parallel ::: env", "env"}, {"parallel echo ::: env", "echo ::: env"}, {"echo ${!A@}", "echo ?? < compgen -v"},
      {"echo \"${!A*}\"", "echo ?? < compgen -v"}, {"echo ${!A[@]}", "echo ?"}, {"setarch x86_64 npm i", "npm i"},
      {"prlimit --nproc=9 npm i", "npm i"}, {"direnv exec . npm i", "npm i"}});
}

TEST(ShellCommands, TakesOffWhatOnlyStartsAnotherProgram) {
  expect_all({{"sudo npm i", "npm i"}, {"sudo -u me -E npm i", "npm i"}, {"sudo -iu me npm i", "npm i"},
      {"sudo -ume npm i", "npm i"}, {"sudo --user me -- npm i", "npm i"}, {"env A=b -u C npm i", "npm i"},
      {"env -S 'sudo npm i'", "sudo npm i ; npm i"}, {"timeout -k 5 10 npm i", "npm i"},
      {"nice -n 10 nohup time -p npm i", "npm i"}, {"busybox wget x", "wget x"}, {"/usr/bin/env npm i", "npm i"},
      {"exec -a x npm i", "npm i"}, {"taskset 0x1 npm i", "npm i"}, {"xargs -I {} npm i {}", "npm i {} ?"}});
}

TEST(ShellCommands, KeepsWrappersThatStartNothing) {
  expect_all(
      {{"env", "env"}, {"env -0", "env -0"}, {"sudo -l", "sudo -l"}, {"command -v npx > /dev/null", "command -v npx >"},
          {"which npm", "which npm"}, {"environment npm", "environment npm"}});
}

TEST(ShellCommands, NamesProgramsWithoutFolderAndEnding) {
  expect_all({{"/usr/bin/npm i", "npm i"}, {"./node_modules/.bin/yarn", "yarn"}, {"npm.cmd i", "npm i"},
      {"/usr/bin/n?m i", "npm i"}, {"[n]pm i", "npm i"}, {"/bin/c*l x", "curl x"}, {"dist/* x", "npm x"},
      {"z*z x", "z*z x"}});
}

TEST(ShellCommands, FollowsVariables) {
  expect_all(
      {{"X=npm; $X install", "npm install"}, {"X='npm install'; $X y", "npm install y"}, {"X='a b'; c \"$X\"", "c a b"},
          {"export X=npm; ${X} i", "export X=npm ; npm i"}, {"npm${IFS}install", "npm install"},
          {"npm$IFS'install'", "npm install"}, {"${X:-npm} i", "npm i"}, {"n$@p$1m i", "npm i"},
          {"x=np; ${x:-a}m i", "npm i"}, {"$X i", "? i"}, {"x=npmx; ${x:0:3} i", "? i"}, {"npm \"$@\"", "npm ?"}});
}

TEST(ShellCommands, ExpandsBraces) {
  expect_all({{"{npm,install}", "npm install"}, {"{'npm',install}", "npm install"}, {"'{a,b}'", "{a,b}"},
      {"a{b}c {}", "a{b}c {}"}});
}

TEST(ShellCommands, FollowsSubstitutions) {
  expect_all({{"$(echo npm) i", "npm i"}, {"`echo npm` i", "npm i"}, {"$(printf npm) i", "npm i"},
      {"$(which npm 2>/dev/null) i", "npm i"}, {"$(cat x) i", "? i < cat x"}, {"X=$(curl x)", "curl x"},
      {"echo \"$(npm i)\"", "echo ? < npm i"}, {"echo \"$(echo \")\")\"; npm i", "echo ) ; npm i"},
      {"echo ${x-$(npm i)}", "echo ?? < ? < npm i"}, {"bash <(curl x)", "bash ? < curl x"},
      {"echo $(echo a > b)", "echo ? < echo a >"}});
}

TEST(ShellCommands, ReadsTextsThatAShellIsGiven) {
  expect_all({{"sh -c 'npm i'", "sh -c npm i ; npm i"}, {"bash --norc -ec 'npm i'", "bash --norc -ec npm i ; npm i"},
      {"bash -c -- 'npm i'", "bash -c -- npm i ; npm i"}, {"sh -c '$0 $1' npm i", "sh -c $0 $1 npm i ; npm i"},
      {"sh -c 'npm \"$@\"' _ i", "sh -c npm \"$@\" _ i ; npm i"}, {"eval 'npm' i", "eval npm i ; npm i"},
      {"cmd.exe /c 'npm i'", "cmd /c npm i ; npm i"},
      {"trap 'true; npm i' EXIT", "trap true; npm i EXIT ; true ; npm i"},
      {"find . -exec npm i {} \\;", "find . -exec npm i {} ; ; npm i {}"},
      {"docker run x sh -c 'npm i'", "docker run x sh -c npm i ; npm i"}, {"node -c 'npm i'", "node -c npm i"}});
}

TEST(ShellCommands, ReadsWhatIsPipedIntoAShell) {
  expect_all({{"echo npm i | sh", "echo npm i | sh ; npm i"},
      {"echo npm i | tee x | bash -s", "echo npm i | tee x | bash -s ; npm i"},
      {"printf 'np\\x6d i' | sh", "printf np\\x6d i | sh ; npm i"}, {"echo i | xargs npm", "echo i | npm ?"},
      {"bash <<< 'npm i'", "bash ; npm i"}, {"echo npm i > x | sh", "echo npm i > | sh"},
      {"echo npm i | cat", "echo npm i | cat"}, {"echo npm i; sh", "echo npm i ; sh"}});
}

// Their lines are commands, whatever reads them: the file that they are written to may be run later.
TEST(ShellCommands, ReadsHereDocuments) {
  expect_all({{"bash <<E\nnpm i\nE\nls", "bash ; npm i ; ls"}, {"bash <<'A B'\nnpm i\nA B\nls", "bash ; npm i ; ls"},
      {"bash <<E | tee x\nnpm i\nE\nls", "bash | tee x ; npm i ; ls"}, {"cat <<E | sh\nnpm i\nE", "cat | sh ; npm i"},
      {"cat <<E\n$(npm i)\nE", "cat ; ? < npm i"}, {"cat <<-E\n\tx\n\tE\nnpm i", "cat ; x ; npm i"},
      {"cat <<E\nEnd\nE\nnpm i", "cat ; End ; npm i"}, {"cat <<E\nit's\nE\nnpm i", "cat ; its  ; npm i"},
      {"cat <<A <<B\n1\nA\n2\nB\nnpm i", "cat ; 1 ; 2 ; npm i"},
      // No such line: these may be commands.
      {"cat <<E\nnpm i", "cat ; npm i"}});
}

TEST(ShellCommands, DropsRedirections) {
  expect_all({{"npm i > x 2>&1", "npm i >"}, {"npm i 2>/dev/null", "npm i"}, {"npm i &> x", "npm i >"},
      {"> x npm i", "npm i >"}, {"npm >| x i", "npm i >"}, {"cat < .env", "cat <.env"}, {"cat 0< .env", "cat <.env"}});
}

TEST(ShellCommands, GiveArgumentsToNoShell) {
  EXPECT_EQ(argv({"npm", "install"}), "npm install");
  EXPECT_EQ(argv({"echo", "a; npm i", "$(b)"}), "echo a; npm i $(b)");
  EXPECT_EQ(argv({"echo", "it's"}), "echo it's");
  EXPECT_EQ(argv({"sudo", "npm", "i"}), "npm i");
  EXPECT_EQ(argv({"sh", "-c", "npm i"}), "sh -c npm i ; npm i");
  EXPECT_EQ(argv({"sh", "-c", "\x1a"}), "sh -c ? ; ?");
}

TEST(ShellCommands, CannotBeForgedByTheirOwnMarks) {
  EXPECT_EQ(commands("echo 'a\x1f\x1e!x;\x1dnpm i'"), "echo a  !x; npm i");
}

// --- limits
// ------------------------------------------------------------------------------------------------------------

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

bool is_unread(std::string_view text) {
  std::string out;
  EXPECT_TRUE(append_shell_commands(text, out));
  return out.find(kCommandsUnread) != std::string::npos;
}

TEST(ShellCommands, SayThatTheyWereNotAllRead) {
  EXPECT_TRUE(is_unread(repeated(":;", kShellCommandsMax + 1)));
  EXPECT_TRUE(is_unread("echo " + std::string(kShellTextBytesMax, 'a')));
  EXPECT_TRUE(is_unread(std::string(kShellTextBytesMax, ' ') + "npm i"));
  EXPECT_TRUE(is_unread(repeated("$(a ", 10) + repeated(")", 10)));
  EXPECT_TRUE(is_unread("a " + repeated("b ", 300)));
  EXPECT_TRUE(is_unread("a=aaaaaaaa;" + repeated("a=$a$a;", 60) + "$a"));
  EXPECT_TRUE(is_unread("x='$(eval $x)$(eval $x)$(eval $x)$(eval $x)'; eval $x"));
  EXPECT_TRUE(is_unread("a='eval $a;eval $a;eval $a;eval $a'; eval $a"));
}

TEST(ShellCommands, ReadToTheEndBelowTheLimits) {
  EXPECT_FALSE(is_unread(repeated(":;", kShellCommandsMax - 1)));
  EXPECT_FALSE(is_unread("echo " + std::string(kShellTextBytesMax - 100, 'a')));
  EXPECT_FALSE(is_unread(repeated("$(a ", 8) + repeated(")", 8)));
  EXPECT_FALSE(is_unread(repeated("{a,b}", 6)));
}

// Whatever is read, the answer has a size that does not depend on it; and it is a list of whole commands.
TEST(ShellCommands, AreBoundedOnAnyText) {
  const std::vector<std::string> pieces = {"$(", ")", "`", "'", "\"", "${", "}", "{a,", ",b}", "<<E\n", "<<-E ",
      "\nE\n", "<<<", "|", ";", "&", "eval ", "sh -c ", "$a", "a=", "a='$a$a'", "\\", "\n", " ", "echo ", "xargs ",
      "printf %s ", "(", "((", "$'", "#", ">", "<(", "set -- ", "\"$@\"", "IFS=a;", "npm i", "\x1a", "\x1d"};
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same texts every time
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const std::size_t size = random() % 60;
    for (std::size_t i = 0; i < size; ++i) {
      text += random() % 4 == 0 ? std::string(1, static_cast<char>(random() % 256)) : pieces[random() % pieces.size()];
    }
    if (round % 100 == 0) text = repeated(text, 65'536 / (text.size() + 1));
    std::string out;
    const bool any = append_shell_commands(text, out);
    ASSERT_EQ(any, !out.empty()) << text;
    ASSERT_LE(out.size(), 2 * kShellWorkBytesMax) << text;
    ASSERT_EQ(out.find_first_of("\x1e\x1f"), std::string::npos) << text;
    if (any) {
      ASSERT_NE(std::string(";|<").find(out[0]), std::string::npos) << text;
      ASSERT_EQ(out[1], '\x1d') << text;
    }
  }
}

}  // namespace
}  // namespace guard
