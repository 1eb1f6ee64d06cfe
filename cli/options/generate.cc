#include "cli/options/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/lines.h"
#include "cli/options/verbs.h"

namespace guard {
namespace {

// "list", "show", ... of `guard rules`.
std::vector<std::string_view> actions_of(const VerbRow& row) {
  std::vector<std::string_view> actions;
  for (const auto& action : row.actions) {
    if (action.action != Action::none && !action.hidden) actions.push_back(to_string(action.action));
  }
  return actions;
}

std::string verb_names() {
  std::string names;
  for (const auto& row : verbs()) names += fmt::format("{} ", row.name);
  return names + "help";
}

bool is_path(const OptionRow& row) {
  return row.value.find("FILE") != std::string_view::npos || row.value.find("FOLDER") != std::string_view::npos ||
      row.value == "DIR" || row.value.find("PATH") != std::string_view::npos;
}

std::string escaped(std::string_view text, std::string_view specials) {
  std::string out;
  for (const char c : text) {
    if (specials.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Within single quotes of a POSIX shell.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// A minus that can be copied from the page, and no line that starts a macro.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else
      out += c;
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string roff_lines(std::string_view text) {
  std::string out;
  for (const auto line : lines_of(text)) out += roff(line) + "\n";
  return out;
}

std::string literal(std::string_view text, std::string_view before) {
  std::string out = ".nf\n";
  for (const auto line : lines_of(text)) out += roff(fmt::format("{}{}", before, line)) + "\n";
  return out + ".fi\n";
}

}  // namespace

std::string bash_completion() {
  std::string table;
  for (const auto& row : verbs()) {
    std::string options = "--help";
    std::string values;
    for (const auto& option : row.options) {
      options += fmt::format(" {}", option.name);
      const std::string names =
          option.short_name.empty() ? std::string(option.name) : fmt::format("{} | {}", option.short_name, option.name);
      if (option.value.empty()) continue;
      values += option.choices.empty()
          ? fmt::format("        {}) {} return ;;\n", names, is_path(option) ? "compopt -o default;" : "")
          : fmt::format("        {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n", names,
                fmt::join(option.choices, " "));
    }
    table += fmt::format("    {})\n      options='{}' actions='{}'\n      case $prev in\n{}      esac ;;\n", row.name,
        options, fmt::join(actions_of(row), " "), values);
  }
  return fmt::format(R"(# bash completion for guard, written by `guard generate bash`.
_guard() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} options= actions= word
  COMPREPLY=()
  # --name=VALUE arrives as three words.
  if [[ $cur == = ]]; then cur= prev=${{COMP_WORDS[COMP_CWORD - 1]}}
  elif [[ $prev == = ]]; then prev=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{0} --help --version' -- "$cur"))
    return
  fi
  for word in "${{COMP_WORDS[@]:2:COMP_CWORD-2}}"; do
    if [[ $word == -- ]]; then compopt -o default; return; fi
  done
  case ${{COMP_WORDS[1]}} in
    help) actions='{0}' ;;
{1}  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif [[ -n $actions ]] && ((COMP_CWORD == 2)); then
    COMPREPLY=($(compgen -W "$actions" -- "$cur"))
  else
    compopt -o default
  fi
}}
complete -F _guard guard
)",
      verb_names(), table);
}

std::string zsh_completion() {
  std::string table;
  std::string summaries;
  for (const auto& row : verbs()) {
    summaries += fmt::format("    {}\n", shell_quoted(fmt::format("{}:{}", row.name, escaped(row.summary, ":"))));
    std::string specs = fmt::format("        {} \\\n", shell_quoted("--help[print help]"));
    for (const auto& option : row.options) {
      std::string spec = fmt::format("{}{}[{}]", option.repeats ? "*" : "", option.name, escaped(option.help, "[]:\\"));
      if (!option.value.empty()) {
        spec += fmt::format(":{}:", escaped(option.value, "[]:"));
        if (!option.choices.empty()) spec += fmt::format("({})", fmt::join(option.choices, " "));
        if (option.choices.empty() && is_path(option)) spec += "_files";
      }
      specs += fmt::format("        {} \\\n", shell_quoted(spec));
      if (!option.short_name.empty())
        specs += fmt::format(
            "        {} \\\n", shell_quoted(fmt::format("{}{}", option.short_name, spec.substr(option.name.size()))));
    }
    const auto actions = actions_of(row);
    if (!actions.empty())
      specs += fmt::format("        {} \\\n", shell_quoted(fmt::format("1:action:({})", fmt::join(actions, " "))));
    table += fmt::format("    {})\n      _arguments \\\n{}        '*:file:_files' ;;\n", row.name, specs);
  }
  return fmt::format(R"(#compdef guard
# zsh completion for guard, written by `guard generate zsh`.
_guard() {{
  local -a verbs=(
{}    'help:print help'
  )
  if ((CURRENT == 2)); then
    _describe verb verbs
    return
  fi
  local verb=$words[2]
  shift words
  ((CURRENT--))
  case $verb in
    help) _describe verb verbs ;;
{}  esac
}}
compdef _guard guard
)",
      summaries, table);
}

std::string fish_completion() {
  std::string text = "# fish completion for guard, written by `guard generate fish`.\n";
  constexpr std::string_view kFirst = "-n __fish_use_subcommand";
  text += fmt::format("complete -c guard -f {} -a help -d 'print help'\n", kFirst);
  for (const auto& row : verbs())
    text += fmt::format("complete -c guard -f {} -a {} -d {}\n", kFirst, row.name, shell_quoted(row.summary));
  for (const auto& row : verbs()) {
    const std::string here = fmt::format("-n '__fish_seen_subcommand_from {}'", row.name);
    for (const auto& option : row.options) {
      std::string value;
      if (!option.choices.empty())
        value = fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
      else if (!option.value.empty())
        value = is_path(option) ? " -r -F" : " -x";
      const std::string letter = option.short_name.empty() ? "" : fmt::format(" -s {}", option.short_name.substr(1));
      text += fmt::format("complete -c guard {} -l {}{}{} -d {}\n", here, option.name.substr(2), letter, value,
          shell_quoted(option.help));
    }
    const auto actions = actions_of(row);
    if (!actions.empty()) {
      text += fmt::format(
          "complete -c guard -f -n '__fish_seen_subcommand_from {0}; and not __fish_seen_subcommand_from {1}' -a "
          "'{1}'\n",
          row.name, fmt::join(actions, " "));
    }
  }
  return text;
}

std::string man_page() {
  std::string text = fmt::format(
      ".\\\" Written by `guard generate man`.\n"
      ".TH GUARD 1 \"\" \"guard {}\" \"User Commands\"\n"
      ".SH NAME\nguard \\- check, run and judge machine\\-written TypeScript and JavaScript\n"
      ".SH SYNOPSIS\n.B guard\n.I VERB\n[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n.br\n.B guard help\n.I "
      "VERB\n.br\n.B guard \\-\\-version\n"
      ".SH DESCRIPTION\nguard checks code with rules in tiers, runs its tests in a sandbox, masks secrets in their "
      "output, and gives a verdict that a\n"
      "script can act on. An error is never a pass.\n"
      ".SH VERBS\n",
      GUARD_VERSION);
  for (const auto& row : verbs()) {
    text += fmt::format(".SS {}\n{}.\n.PP\n{}.PP\n{}", roff(row.name), roff(row.summary),
        literal(usage_of(row), "guard "), roff_lines(row.about));
    for (const auto& option : row.options) {
      text += fmt::format(".TP\n.B {}{}{}\n{}{}\n", option.short_name.empty() ? "" : roff(option.short_name) + ", ",
          roff(option.name), option.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(option.value)),
          roff(option.help), option.key.empty() ? "" : fmt::format(" [{}]", roff(option.key)));
    }
    text += fmt::format(
        ".PP\nExamples:\n.PP\n{}.PP\nExit status: {}", literal(row.examples, ""), roff_lines(row.exit_status));
  }
  text +=
      ".SH EXIT STATUS\n"
      "0 allowed, 1 rejected, 2 undecided, 3 no environment may be used, 64 usage, 130 interrupted, 143 terminated.\n"
      ".SH ENVIRONMENT\n"
      ".TP\n.B GUARD_SECTION_KEY\nA key of the configuration, such as GUARD_LIMITS_MEMORY. `guard config show` lists "
      "all of them.\n"
      ".TP\n.B GUARD_BUN\nThe bun to use, if it is not in PATH.\n"
      ".TP\n.B GUARD_CACHE_DIR, GUARD_STATE_DIR\nFolders for images and for nights.\n"
      ".TP\n.B DOCKER_HOST\nThe container engine.\n"
      ".TP\n.B NO_COLOR\nSwitches colour off.\n"
      ".SH FILES\n.TP\n.B guard.toml\nThe configuration, at the root of the repository.\n"
      ".SH SEE ALSO\n.BR bun (1),\n.BR docker (1),\n.BR bwrap (1)\n";
  return text;
}

Result<int> cmd_generate(const Options& options, CommandContext& context) {
  context.streams.out.write(options.action == Action::bash ? bash_completion()
          : options.action == Action::zsh                  ? zsh_completion()
          : options.action == Action::fish                 ? fish_completion()
                                                           : man_page());
  return 0;
}

}  // namespace guard
