import { DatabaseUnavailable, messageOf, UniqueViolation } from './errors.ts';

/** SQLSTATE of what the server said; what the driver said has none. */
export function sqlStateOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? code : '';
}

/** The transaction lost against another one and was taken back: the same again can succeed. */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(sqlStateOf(error));
}

/** The connection is of no further use: broken, ended by the server, or to one that became a replica. */
export function endsConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === '' || /^(?:08|57P|58|XX|25006|25P0[34])/.test(state);
}

/** Mistakes in a statement or its data: nothing that another try or another hour would change. */
const lasting = /^(?:0A|2[0-4]|26|42|P0)/;

function columnOf(error: unknown): string | undefined {
  if (!(error instanceof Error && 'constraint' in error)) return undefined;
  // The constraints are named by us: table, column, `key`.
  return /^[a-z]+_(\w+)_key$/.exec(String(error.constraint))?.[1];
}

/** What a statement failed with, as the nouns know it. */
export function translated(error: unknown): Error {
  const state = sqlStateOf(error);
  const column = state === '23505' ? columnOf(error) : undefined;
  if (column !== undefined) return new UniqueViolation(column, { cause: error });
  if (error instanceof Error && lasting.test(state)) return error;
  return new DatabaseUnavailable(`the database cannot be used (${messageOf(error)})`, { cause: error });
}

/** What the network, and a server that starts or stops, say while there is no database yet. */
const notYet: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  '57P01',
  '57P03',
]);

/** Whether the database may only not be there yet: it was asleep, or is started together with this process. */
export function mayComeUp(error: unknown): boolean {
  if (!(error instanceof DatabaseUnavailable)) return false;
  const { cause } = error;
  // Nobody answered in time.
  if (cause === undefined) return true;
  if (!(cause instanceof Error)) return false;
  return 'code' in cause
    ? notYet.has(String(cause.code))
    : /\btimeout\b|^Connection terminated/.test(cause.message);
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its host and port',
  ENOTFOUND: 'its host name leads nowhere',
  EAI_AGAIN: 'its host name cannot be looked up',
  ETIMEDOUT: 'its host does not answer',
  ECONNRESET: 'its host ended the connection',
  '28P01': 'it refuses the password',
  '28000': 'it refuses the user',
  '3D000': 'there is no such database',
  '42501': 'its user lacks a right',
  '53300': 'it has too many connections',
  '57P03': 'it is starting or stopping',
};

/** Why the database cannot be used, in a few words that hold nothing of its address. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof DatabaseUnavailable && error.cause !== undefined ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'STORAGE_UNAVAILABLE') return 'it does not answer in time';
  return reasons[code] ?? (code === '' ? 'the driver refuses it' : `error ${code}`);
}
