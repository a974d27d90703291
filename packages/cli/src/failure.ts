import { ApiKeyError, ClientError, PartnerNameError, PortalError, WebhookError } from '@ostiary/core/admin';
import { styled } from './colour.ts';
import { type Commands, CommandUsageError, NotFoundError } from './command.ts';
import { requiredOf, usageOf } from './help.ts';

/** Description of a failed command, with advice. */
export interface Failure {
  /** Exit code: 1 failed, 2 typed wrongly, 3 not found. */
  readonly exitCode: 1 | 2 | 3;
  /**
   * Error code: `usage`, `not_found`, `failed`, `not_confirmed`, `output_lost`, or a code of the
   * administration such as `client_exists`.
   */
  readonly code: string;
  /** Problems that made the command fail, one text each. */
  readonly problems: readonly string[];
  /** Advice for the person who typed the command, line by line. */
  readonly remedy: readonly string[];
}

/** Facts about the command that an error's explanation needs. */
export interface FailureContext {
  readonly program: string;
  readonly commands: Commands<never>;
  readonly argv: readonly string[];
  /**
   * True if the installation was open. A `TypeError` then reports a setting that the administration refused.
   */
  readonly isOpen: boolean;
  readonly isUsageError: (error: unknown) => boolean;
  readonly isNotFound: (error: unknown) => boolean;
}

/** Command that lists the existing objects, for each error code ending in `not_found`. */
const lists: { readonly [code: string]: string } = {
  partner_not_found: 'partners list',
  client_not_found: 'clients list',
  key_not_found: 'keys list <partner>',
  endpoint_not_found: 'endpoints list <partner>',
  event_not_found: 'events list <partner>',
  portal_session_not_found: 'portal list <partner>',
  payment_not_found: 'payments list <partner>',
  request_not_found: 'requests list <partner>',
};

function codeOf(error: unknown): string | null {
  const isOurs = [ApiKeyError, ClientError, NotFoundError, PartnerNameError, PortalError, WebhookError].some(
    (type) => error instanceof type,
  );
  return isOurs && error instanceof Error && 'code' in error ? String(error.code) : null;
}

const wordsOf = (argv: readonly string[]) => argv.filter((word) => !word.startsWith('-'));

/** Returns the command that the typed words name; `null` if they name none. */
function commandOf(commands: Commands<never>, argv: readonly string[]) {
  const words = wordsOf(argv);
  for (const count of [2, 1]) {
    const name = words.slice(0, count).join(' ');
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (command !== undefined) return { name, command };
  }
  return null;
}

/**
 * Returns help for a mistyped command line: the usage of its command, the command that has the typed words in
 * reverse order, or otherwise how to list the commands.
 */
function helpFor({ program, commands, argv }: FailureContext): string[] {
  const found = commandOf(commands, argv);
  if (found !== null) {
    const called = `${program} ${found.name}`;
    return [`Usage: ${called} ${usageOf(found.command)}`, `Run ${called} --help for details.`];
  }
  const [first = '', second = ''] = wordsOf(argv);
  const turned = `${second} ${first}`;
  const meant = Object.hasOwn(commands, turned) ? commands[turned] : undefined;
  if (meant !== undefined) {
    const called = [program, turned, ...requiredOf(meant)].join(' ');
    return [`Run ${called}: the noun comes first.`];
  }
  const isNoun = Object.keys(commands).some((name) => name.startsWith(`${first} `));
  return [`Run ${program} ${isNoun ? `${first} ` : ''}--help to see the commands.`];
}

/** Flags for settings whose names in code and on the command line differ in more than spelling. */
const members: { readonly [member: string]: string } = {
  allowlist: 'allow',
  allowedScopes: 'scope',
  expiresAt: 'expires',
  overlapSeconds: 'overlap',
  activateAfterSeconds: 'activate-after',
  argument: 'head',
};

/**
 * Rewrites an error of the administration in terms of the command line: `redirectUris.0: …` becomes
 * `--redirect-uri: …`.
 */
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
    const remedy = list === undefined ? [] : [`Run ${context.program} ${list} to list them.`];
    return { exitCode: 3, code: code ?? 'not_found', problems, remedy };
  }
  const isUsage =
    error instanceof CommandUsageError ||
    context.isUsageError(error) ||
    // The administration refused a setting.
    (error instanceof TypeError && context.isOpen);
  if (code !== null || isUsage)
    return { exitCode: 2, code: code ?? 'usage', problems, remedy: helpFor(context) };
  return { exitCode: 1, code: 'failed', problems, remedy: [] };
}

/** Formats a failure for standard error. */
export function failureText({ code, problems, remedy }: Failure, json: boolean): string {
  if (json) return `${JSON.stringify({ error: { code, message: problems.join('; '), problems, remedy } })}\n`;
  const lines = [...problems.map((problem) => styled('red', problem)), ...remedy];
  return `${lines.join('\n')}\n`;
}
