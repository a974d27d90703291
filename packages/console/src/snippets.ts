import type { AttemptRequest } from '@ostiary/core/console';
import { type ConsoleDesk, type Html, html } from '@ostiary/core/console';
import { foreignText, visibleText } from './parts.ts';
import type { Voice } from './words/words.ts';

/** A call of the partner API: a line of its route table, what stands for the parameter of its path, and JSON. */
export interface ApiCall {
  readonly method: string;
  /** `/v1/partner/payments/:id` */
  readonly route: string;
  /** `null`: not known, so that the snippet reads it from a variable `ID`. */
  readonly id: string | null;
  readonly body: unknown;
}

/** Text as one word of a POSIX shell: between single quotes nothing has a meaning but the next one. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** What curl says by itself. */
const curlSays = new Set(['host', 'connection', 'content-length']);

const command = (words: readonly string[]): string => words.join(' \\\n  ');

/** A request as a command of curl. `--globoff`: brackets in a URL are what they are. */
export function curlOf({ method, url, headers, body }: Omit<AttemptRequest, 'changedAt'>): string {
  return command([
    `curl --globoff --request ${quoted(method)} ${quoted(url)}`,
    ...headers.flatMap(([name, value]) =>
      curlSays.has(name.toLowerCase()) ? [] : [`--header ${quoted(`${name}: ${value}`)}`],
    ),
    `--data-raw ${quoted(body)}`,
  ]);
}

/** A call of the partner API as a command of curl, which reads the key from the environment. */
export function apiCurlOf(
  { apiUrl }: Pick<ConsoleDesk, 'apiUrl'>,
  { method, route, id, body }: ApiCall,
): string {
  const [before = '', after] = route.split(/:[a-z]+/);
  const known = id === null ? '' : encodeURIComponent(id);
  const url =
    after === undefined || id !== null
      ? quoted(apiUrl(`${before}${after === undefined ? '' : `${known}${after}`}`))
      : `${quoted(apiUrl(before))}"$ID"${after === '' ? '' : quoted(after)}`;
  return command([
    `curl --globoff --request ${quoted(method)} ${url}`,
    '--header "Authorization: Bearer $OSTIARY_API_KEY"',
    ...(body === null
      ? []
      : ["--header 'Content-Type: application/json'", `--data-raw ${quoted(JSON.stringify(body))}`]),
  ]);
}

/** How the SDK makes a call: with its path's parameter and its body, as far as it has them. */
type SdkCall = (id: string, body: string | null) => string;

const answered = (call: string): string => `console.log(await ostiary.${call});`;
const listed = (call: string): string => `for await (const item of ostiary.${call}) console.log(item);`;

const sdkCalls: { readonly [call: string]: SdkCall } = {
  'POST /v1/partner/verify': (_, body) => answered(`passports.verify(${body})`),
  'POST /v1/partner/payments': (_, body) => answered(`payments.create(${body})`),
  'GET /v1/partner/payments': () => listed('payments.list()'),
  'GET /v1/partner/payments/:id': (id) => answered(`payments.retrieve(${id})`),
  'GET /v1/partner/users/phone/:phone': (id) => answered(`users.retrieveByPhone(${id})`),
  'GET /v1/partner/users/:kid': (id) => answered(`users.retrieve(${id})`),
  'POST /v1/partner/webhooks': (_, body) => answered(`webhooks.create(${body})`),
  'GET /v1/partner/webhooks': () => listed('webhooks.list()'),
  'GET /v1/partner/webhooks/:id': (id) => answered(`webhooks.retrieve(${id})`),
  'PATCH /v1/partner/webhooks/:id': (id, body) => answered(`webhooks.update(${id}, ${body})`),
  'DELETE /v1/partner/webhooks/:id': (id) => answered(`webhooks.delete(${id})`),
  'GET /v1/partner/webhooks/:id/deliveries': (id) => listed(`webhooks.deliveries(${id})`),
  'POST /v1/partner/webhooks/:id/recover': (id, body) => answered(`webhooks.recover(${id}, ${body})`),
  'GET /v1/partner/events': () => listed('events.list()'),
  'POST /v1/partner/events/:id/redeliver': (id, body) =>
    answered(body === null || body === '{}' ? `events.redeliver(${id})` : `events.redeliver(${id}, ${body})`),
  'POST /v1/partner/sandbox/events': (_, body) => answered(`sandbox.triggerEvent(${body})`),
  'POST /v1/partner/sandbox/passports': (_, body) => answered(`sandbox.createPassport(${body ?? ''})`),
  'GET /v1/partner/whoami': () => answered('whoami()'),
};

/** JSON as an expression: a member `__proto__` would be something else there. */
const expressionOf = (json: unknown): string =>
  JSON.stringify(json, null, 2).replaceAll(/^( *)"__proto__":/gm, '$1["__proto__"]:');

/** A call of the partner API as a program with `@ostiary/client-sdk`; `null` where the SDK has none. */
export function sdkCodeOf(
  { apiUrl }: Pick<ConsoleDesk, 'apiUrl'>,
  { method, route, id, body }: ApiCall,
): string | null {
  const call = Object.hasOwn(sdkCalls, `${method} ${route}`) ? sdkCalls[`${method} ${route}`] : undefined;
  if (call === undefined) return null;
  const environment = (name: string): string => `process.env.${name} ?? ''`;
  const made = call(
    id === null ? environment('ID') : JSON.stringify(id),
    body === null ? null : expressionOf(body),
  );
  return `import { OstiaryPartner } from '@ostiary/client-sdk';

const ostiary = new OstiaryPartner({
  apiKey: ${environment('OSTIARY_API_KEY')},
  baseUrl: ${JSON.stringify(apiUrl('').replace(/\/$/, ''))},
});
${made}
`;
}

/** A button that copies the text beside it in a `.snippet`, or `text` where that is given; out of sight until scripts run. */
export function copyButton({ words: { snippets: words } }: Voice, title: string, text = ''): Html {
  return html`<button type="button" class="compact" data-copy="${text}" data-done="${words.copied}" data-failed="${words.notCopied}">${words.copy} <span class="hidden">${title}</span></button>`;
}

/** Text to be copied: with a button where scripts run (`conveniences.ts`), and to be selected without. */
export function snippet(voice: Voice, title: string, text: string): Html {
  // What is shown instead of a character that hides or reorders text must not be copied.
  const isShown = visibleText(text) === text;
  const button = copyButton(voice, title, isShown ? '' : text);
  return html`<div class="snippet"><div class="head"><strong class="small">${title}</strong>${button}</div>${foreignText(text, title)}</div>`;
}

/** A call of the partner API, as curl and as code, behind a disclosure. */
export function apiSnippets(
  desk: Pick<ConsoleDesk, 'apiUrl'>,
  voice: Voice,
  {
    id,
    title,
    about,
    call,
  }: {
    readonly id: string;
    readonly title: string;
    /** What the heading above says, for those who jump from one disclosure to the next. */
    readonly about?: string;
    readonly call: ApiCall;
  },
): Html {
  const { snippets: words } = voice.words;
  const code = sdkCodeOf(desk, call);
  return html`<details id="${id}"><summary class="small">${title}${about === undefined ? null : html`<span class="hidden">: ${about}</span>`}</summary><div class="small muted">${words.key}${call.id === null && /:/.test(call.route) ? html` ${words.unknownId}` : null}</div>${snippet(voice, words.curl(title), apiCurlOf(desk, call))}${code === null ? null : snippet(voice, words.sdk(title), code)}</details>`;
}
