import { type CommandSubject, type Commands, CommandUsageError, type StandaloneCommand } from './command.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

const common = ['--json', '--yes', '--actor', '--progress', '--help'];

/** Words that a shell can suggest after the words that are already typed. */
interface Step {
  /**
   * Words before the suggested word: `''` for the first word, `keys`, `keys issue`, or `keys issue --mode`.
   */
  readonly behind: string;
  readonly words: readonly string[];
}

/** Lists the steps of shell completion for all commands. */
function stepsOf(commands: Commands<never>): readonly Step[] {
  const names = Object.keys(commands);
  const first = [...new Set(names.map((name) => name.split(' ')[0] ?? ''))];
  const verbsOf = (noun: string) =>
    names.filter((name) => name.startsWith(`${noun} `)).map((name) => name.slice(noun.length + 1));
  return [
    { behind: '', words: [...first, 'help', '--help', '--version'] },
    ...first.map((noun) => ({ behind: noun, words: verbsOf(noun) })).filter(({ words }) => words.length > 0),
    ...Object.entries(commands).flatMap(([name, { flags = {} }]) => [
      {
        behind: name,
        words: [
          ...(name === 'completion' ? shells : []),
          ...Object.keys(flags).map((flag) => `--${flag}`),
          ...common,
        ],
      },
      ...Object.entries(flags).flatMap(([flag, { type, oneOf = [] }]) =>
        // Without fixed values the list is empty, and the shell completes file names.
        type === 'boolean' ? [] : [{ behind: `${name} --${flag}`, words: oneOf }],
      ),
    ]),
  ];
}

const functionName = (program: string) => `_${program.replaceAll(/\W/g, '_')}`;

const cases = (steps: readonly Step[], indent: string) =>
  steps.map(({ behind, words }) => `${indent}'${behind}') reply='${words.join(' ')}' ;;`).join('\n');

/**
 * Makes the functions that the completion scripts of bash and zsh share. They take the words typed so far,
 * and print suggestions for the next word.
 */
function posix(steps: readonly Step[], lookup: string): string {
  return `${lookup}() {
  local reply
  case "$1" in
${cases(steps, '    ')}
    *) return 1 ;;
  esac
  echo "$reply"
}
# The longest name of a command among the words, and behind it the last word where that is a flag that takes a value.
${lookup}_words() {
  local name="$1" last word
  for word in "$@"; do last="$word"; done
  if [ $# -gt 1 ] && ${lookup} "$1 $2" > /dev/null; then name="$1 $2"; fi
  case "$last" in
    -*) ${lookup} "$name $last" && return ;;
  esac
  ${lookup} "$name"
}`;
}

const scripts = {
  bash: (program: string, steps: readonly Step[]) => {
    const name = functionName(program);
    return `# bash completion of ${program}: eval "$(${program} completion bash)"
${posix(steps, `${name}_lookup`)}
${name}() {
  local line=\${COMP_LINE:0:COMP_POINT} current before
  # bash splits words at colons and equals signs; flags and scopes have some.
  current=\${line##*[[:space:]]}
  read -ra before <<< "\${line%"$current"}"
  local colon=""
  [[ $current == *:* && $COMP_WORDBREAKS == *:* ]] && colon=\${current%"\${current##*:}"}
  COMPREPLY=($(compgen -W "$(${name}_lookup_words "\${before[@]:1}")" -- "$current"))
  COMPREPLY=("\${COMPREPLY[@]#"$colon"}")
}
complete -o default -F ${name} ${program}`;
  },
  zsh: (program: string, steps: readonly Step[]) => {
    const name = functionName(program);
    return `#compdef ${program}
# zsh completion of ${program}: source <(${program} completion zsh)
${posix(steps, `${name}_lookup`)}
${name}() {
  local reply=$(${name}_lookup_words "\${(@)words[2,CURRENT-1]}")
  if [[ -n $reply ]]; then compadd -- \${(s: :)reply}; else _files; fi
}
compdef ${name} ${program}`;
  },
  fish: (program: string, steps: readonly Step[]) => {
    const name = functionName(program);
    const entries = steps.map(
      ({ behind, words }) => `    case '${behind}'\n      string split ' ' -- '${words.join(' ')}'`,
    );
    return `# fish completion of ${program}: ${program} completion fish | source
function ${name}_lookup
  switch "$argv[1]"
${entries.join('\n')}
    case '*'
      return 1
  end
  return 0
end
function ${name}
  set -l words (commandline -opc)[2..]
  set -l name "$words[1]"
  ${name}_lookup "$words[1..2]" > /dev/null; and set name "$words[1..2]"
  if string match -q -- '-*' "$words[-1]"
    ${name}_lookup "$name $words[-1]" > /dev/null; and set name "$name $words[-1]"
  end
  set -l reply (${name}_lookup "$name")
  if test -n "$reply"
    printf '%s\\n' $reply
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c ${program} -f -a '(${name})'`;
  },
} as const;

/**
 * Makes the command `completion`, which prints a completion script for a shell. The script is generated from
 * `commands`.
 */
export function completionCommand<Subject extends CommandSubject>(
  program: string,
  commands: () => Commands<Subject>,
): StandaloneCommand {
  return {
    standalone: true,
    about: 'print a script that completes what is typed, for bash, zsh or fish',
    example: 'bash > /etc/bash_completion.d/ostiary',
    positionals: ['shell'],
    run: async ({ positionals: [given = ''] }) => {
      const shell = shells.find((one) => one === given);
      if (shell === undefined)
        throw new CommandUsageError(`<shell> must be bash, zsh or fish, not ${JSON.stringify(given)}`);
      const script = scripts[shell](program, stepsOf(commands()));
      return { text: script, json: { shell, script } };
    },
  };
}
