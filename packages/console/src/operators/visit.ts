import {
  type Administration,
  ApiKeyError,
  ClientError,
  PartnerNameError,
  PortalError,
  WebhookError,
} from '@ostiary/core/admin';
import {
  type ConsoleAnswer,
  type OperatorBackend,
  type OperatorRight,
  type OperatorVisit,
  PartnerError,
} from '@ostiary/core/console';
import { startOfDay } from '../calendar.ts';
import { parameterOf } from '../query.ts';
import type { PageBase } from '../visit.ts';
import { voiceOf, type Words } from '../words.ts';
import type { HostActs } from './host-acts.ts';
import type { OperatorStaff } from './host-staff.ts';
import type { OperatorUsers } from './host-users.ts';
import { type OperatorUrls, operatorUrls } from './urls.ts';

/** Name of a message about the last action. */
export type OperatorNotice = keyof Words['operators']['notices'];

/** Request of an operator, with all data and functions that a page needs. */
export interface OperatorContext
  extends PageBase,
    Pick<OperatorVisit<Administration>, 'admin' | 'operator' | 'may' | 'confirmAt' | 'signOut' | 'query'> {
  readonly backend: OperatorBackend;
  /** Functions of the host application that find and change users; `null` if the host passed none. */
  readonly users: OperatorUsers | null;
  /**
   * Path or URL of the host application's page where an operator signs out; `null` if the host passed none.
   */
  readonly accountUrl: string | null;
  /** Functions of the host application that manage its staff; `null` if the application did not pass them. */
  readonly staff: OperatorStaff | null;
  /** Kinds of the application's own audit log entries, with words for the pages. */
  readonly acts: HostActs;
  readonly urls: OperatorUrls;
  readonly words: Words['operators'];
  readonly notice: OperatorNotice | null;
  /** Numbers of partners and clients, for the navigation and their lists. Counting stops at 10,000. */
  readonly counts: { readonly partners: number; readonly clients: number };
  /** Slug of the partner in the path; '' if the path has none. */
  readonly slug: string;
  readonly id: string;
  /** True for a GET request. False for HEAD, which must not use up the ticket of a secret. */
  readonly isRead: boolean;
  /** True if the operator may send the forms of this page. Otherwise pages leave the forms out. */
  readonly mayPost: boolean;
}

/** Submitted fields of a form. */
export type Form = ReadonlyMap<string, string>;

/** Handler that shows a page. */
export type Show = (visit: OperatorContext) => Promise<ConsoleAnswer>;

/** Handler that performs the action of a posted form. */
export type Do = (
  visit: OperatorContext,
  form: Form,
  files: ReadonlyMap<string, Uint8Array>,
) => Promise<ConsoleAnswer>;

/**
 * Makes the data and functions that an operators' page needs for a request.
 * @param right - right that the form of the page needs, if any
 * @throws PartnerError `not_found` for a path that no database can store
 */
export async function contextOf(
  {
    backend,
    users,
    accountUrl,
    acts,
    staff,
    script,
    style,
  }: Pick<OperatorContext, 'backend' | 'users' | 'accountUrl' | 'acts' | 'staff' | 'script' | 'style'>,
  visit: OperatorVisit<Administration>,
  right?: OperatorRight,
): Promise<OperatorContext> {
  const voice = await voiceOf(visit.raw.headers['accept-language']);
  const words = voice.words.operators;
  const notice = visit.query.get('notice');
  const { slug = '', id = '' } = visit.parameters;
  if (/\0/.test(slug + id)) throw new PartnerError('not_found');
  const [partners, clients] = await Promise.all([visit.admin.partners.count(), visit.admin.clients.count()]);
  const isNotice = (name: string | null): name is OperatorNotice =>
    name !== null && Object.hasOwn(words.notices, name);
  return {
    ...{ backend, users, accountUrl, acts, staff, script, style, voice, words, slug, id },
    urls: operatorUrls(backend, modeOf(visit)),
    ...{ admin: visit.admin, operator: visit.operator, csrf: visit.proof, query: visit.query },
    ...{ may: visit.may, confirmAt: visit.confirmAt, signOut: visit.signOut },
    isRead: visit.raw.method === 'GET',
    mayPost: right === undefined || visit.may.includes(right),
    notice: isNotice(notice) ? notice : null,
    counts: { partners, clients },
  };
}

/** Reads a query parameter; `null` if it is missing or empty. */
export const parameter = ({ query }: Pick<OperatorContext, 'query'>, name: string): string | null =>
  parameterOf(query, name);

/** Returns the mode that the query selects, `live` by default. */
export const modeOf = (visit: Pick<OperatorContext, 'query'>): 'live' | 'test' =>
  visit.query.get('mode') === 'test' ? 'test' : 'live';

/** Maximum length of a position in a list, in characters. A position contains a name or a URL. */
const longestPlace = 4_000;

/** Returns the arguments for reading one page of a list: the limit, and the position that the query names. */
export function pageOf({ query }: Pick<OperatorContext, 'query'>, limit: number) {
  const after = parameterOf(query, 'after', longestPlace);
  return { limit, ...(after !== null && { after }) };
}

/**
 * Returns the arguments for reading one page of a list that is paged in both directions: the limit, and the
 * position `before` or `after` that the query names.
 */
export function twoWayPageOf(visit: Pick<OperatorContext, 'query'>, limit: number) {
  const before = parameterOf(visit.query, 'before', longestPlace);
  return before === null ? pageOf(visit, limit) : { limit, before };
}

/**
 * Names of form fields, by the code of the error that concerns them. Errors with other codes concern the
 * object in the URL.
 */
const fieldOfCode: { readonly [code: string]: string } = {
  client_exists: 'clientId',
  partner_exists: 'slug',
  endpoint_disabled: 'endpoint',
};

const codeOf = (error: unknown): string | null =>
  error instanceof ClientError ||
  error instanceof PartnerNameError ||
  error instanceof ApiKeyError ||
  error instanceof PortalError ||
  error instanceof WebhookError
    ? error.code
    : null;

/**
 * Returns the reasons why an administrative call was refused, as codes or texts, by form field; reasons that
 * concern no field are under `''`.
 * @throws PartnerError `not_found`, or the error itself if it is not a refusal
 */
function problemsIn(error: unknown, ownerField: string | null): ReadonlyMap<string, readonly string[]> {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : '';
  if (code === 'partner_not_found' && ownerField !== null) return new Map([[ownerField, [code]]]);
  if (code?.endsWith('_not_found') === true) throw new PartnerError('not_found', { cause: error });
  if (code !== null) return new Map([[fieldOfCode[code] ?? '', [code]]]);
  if (!(error instanceof TypeError)) throw error;
  const problems = new Map<string, readonly string[]>();
  // Several problems in one message: `name: …; redirectUris.0: …`
  for (const part of message.split('; ')) {
    const [, name = '', place = '', words = part] = /^(\w+)((?:\.\w+)+)?: (.*)$/s.exec(part) ?? [];
    problems.set(name, [...(problems.get(name) ?? []), place === '' ? words : part]);
  }
  return problems;
}

/**
 * Makes an administrative call. Returns its result, or the problems if it was refused.
 * @param ownerField - name of the form field that names a partner, if there is one
 * @throws PartnerError `not_found` if the call concerns an object that does not exist
 */
export async function attempt<Done>(
  call: () => Promise<Done>,
  ownerField: string | null = null,
): Promise<{ readonly done: Done } | { readonly problems: ReturnType<typeof problemsIn> }> {
  try {
    return { done: await call() };
  } catch (error) {
    return { problems: problemsIn(error, ownerField) };
  }
}

/** Reads a page of a list. @throws PartnerError `invalid_request` if the query has an invalid position */
export async function listed<List>(read: () => Promise<List>): Promise<List> {
  const result = await attempt(read);
  if ('done' in result) return result.done;
  const description = [...result.problems.values()].flat().join('; ');
  throw new PartnerError('invalid_request', { description });
}

/** Returns a row that was read. @throws PartnerError `not_found` if it is missing */
export function found<Row>(row: Row | null | undefined): Row {
  if (row === null || row === undefined) throw new PartnerError('not_found');
  return row;
}

/** Throws the error for a posted form that no page of the console contains. */
export function unknownAct(): never {
  throw new PartnerError('invalid_request', { description: 'The form asks for an act that there is not.' });
}

/** Reads a whole number from a form field; `null` if the field is empty or invalid. */
export function integerOf(form: Form, name: string): number | null {
  const text = (form.get(name) ?? '').trim();
  return /^\d{1,12}$/.test(text) ? Number(text) : null;
}

/** Reads a form field with a time: `null` if it is empty, `undefined` if it is invalid. */
export function timeOf(form: Form, name: string): Date | null | undefined {
  const text = (form.get(name) ?? '').trim();
  if (text === '') return null;
  const day = /^(\d{4}-\d\d-\d\d)T[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.exec(text)?.[1] ?? '';
  const time = new Date(text);
  return Number.isNaN(time.getTime()) || startOfDay(day) === null ? undefined : time;
}

/** Splits the value of a form field into its non-empty lines. */
export const linesOf = (form: Form, name: string): readonly string[] =>
  (form.get(name) ?? '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
