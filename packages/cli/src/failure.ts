import { ApiKeyError, ClientError, PartnerNameError, WebhookError } from '@ostiary/core/admin';
import { styled } from './colour.ts';
import { type Commands, CommandUsageError } from './command.ts';
import { requiredOf, usageOf } from './help.ts';

/** Description of a failure, with advice. */
export interface Failure {
  /** 1 failed, 2 typed wrongly, 3 not found. */
  readonly exitCode: 1 | 2 | 3;
  /** `usage`, `not_found`, `failed`, or that of the administration: `client_exists`. */
  readonly code: string;
  /** Each by itself. */
  readonly problems: readonly string[];
  /** Advice, line by line. */
  readonly remedy: readonly string[];
}

/** Context of an error. */
export interface FailureContext {
  readonly program: string;
  readonly commands: Commands<never>;
  readonly argv: readonly string[];
  /**
   * True if the installation was open. A `TypeError` is then an invalid value that the administration
   * refused.
   */
  readonly isOpen: boolean;
  readonly isUsageError: (error: unknown) => boolean;
  readonly isNotFound: (error: unknown) => boolean;
}

/** Command that lists the existing ones. */
const lists: { readonly [code: string]: string } = {
  partner_not_found: 'partners list',
  client_not_found: 'clients list',
  key_not_found: 'keys list <partner>',
  endpoint_not_found: 'endpoints list <partner>',
  event_not_found: 'tail <partner> --once',
};

function codeOf(error: unknown): string | null {
  const isOurs = [ApiKeyError, ClientError, PartnerNameError, WebhookError].some(
    (type) => error instanceof type,
  );
  return isOurs && error instanceof Error && 'code' in error ? String(error.code) : null;
}

const wordsOf = (argv: readonly string[]) => argv.filter((word) => !word.startsWith('-'));

/** Finds the command that was meant, if it is recognizable. */
function commandOf(commands: Commands<never>, argv: readonly string[]) {
  const words = wordsOf(argv);
  for (const count of [2, 1]) {
    const name = words.slice(0, count).join(' ');
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (command !== undefined) return { name, command };
  }
  return null;
}

/** Remedies for a wrong line: the usage of its command, or the command that its words turned round are. */
function helpFor({ program, commands, argv }: FailureContext): string[] {
  const found = commandOf(commands, argv);
  if (found !== null) {
    const called = `${program} ${found.name}`;
    return [`Usage: ${called} ${usageOf(found.command)}`, `Run ${called} --help for all of it.`];
  }
  const [first = '', second = ''] = wordsOf(argv);
  const turned = `${second} ${first}`;
  const meant = Object.hasOwn(commands, turned) ? commands[turned] : undefined;
  if (meant !== undefined) {
    const called = [program, turned, ...requiredOf(meant)].join(' ');
    return [`Run ${called}: what it is about comes first.`];
  }
  const isNoun = Object.keys(commands).some((name) => name.startsWith(`${first} `));
  return [`Run ${program} ${isNoun ? `${first} ` : ''}--help to see what there is.`];
}

/** Names of settings in the administration that differ from their flag by more than spelling. */
const members: { readonly [member: string]: string } = {
  allowlist: 'allow',
  allowedScopes: 'scope',
  expiresAt: 'expires',
  overlapSeconds: 'overlap',
  activateAfterSeconds: 'activate-after',
  argument: 'head',
};

/** `redirectUris.0: …` of the administration, as it was typed: `--redirect-uri: …`. */
function asTyped(message: string, { commands, argv }: FailureContext): string {
  const [, member = '', problem = ''] = /^(\w+)(?:\.\d+)?: (.*)$/s.exec(message) ?? [];
  const { flags = {}, positionals = [] } = commandOf(commands, argv)?.command ?? {};
  const name = members[member] ?? member.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const flag = [name, name.replace(/s$/, '')].find((each) => Object.hasOwn(flags, each));
  if (flag !== undefined) return `--${flag}: ${problem}`;
  return positionals.includes(name) ? `<${name}>: ${problem}` : message;
}

/** Explains an error to the person who typed the command. */
export function failureOf(error: unknown, context: FailureContext): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const problems =
    error instanceof CommandUsageError
      ? error.problems
      : [error instanceof TypeError ? asTyped(message, context) : message];
  const code = codeOf(error);
  if (code?.endsWith('_not_found') === true || context.isNotFound(error)) {
    const list = lists[code ?? ''];
    const remedy = list === undefined ? [] : [`Run ${context.program} ${list} to see which there are.`];
    return { exitCode: 3, code: code ?? 'not_found', problems, remedy };
  }
  const isUsage =
    error instanceof CommandUsageError ||
    context.isUsageError(error) ||
    // A setting that the administration refuses.
    (error instanceof TypeError && context.isOpen);
  if (code !== null || isUsage)
    return { exitCode: 2, code: code ?? 'usage', problems, remedy: helpFor(context) };
  return { exitCode: 1, code: 'failed', problems, remedy: [] };
}

/** A failure as it is written to standard error. */
export function failureText({ code, problems, remedy }: Failure, json: boolean): string {
  if (json) return `${JSON.stringify({ error: { code, message: problems.join('; '), problems, remedy } })}\n`;
  const lines = [...problems.map((problem) => styled('red', problem)), ...remedy];
  return `${lines.join('\n')}\n`;
}
