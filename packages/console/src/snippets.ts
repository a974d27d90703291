import type { AttemptRequest, ConsoleBackend, ConsoleRoute, SdkCall } from '@ostiary/core/console';
import { fillText, type Html, html } from '@ostiary/core/pages';
import { foreignText, visibleText } from './parts.ts';
import type { Voice } from './words.ts';

/** Description of the partner API from which code snippets are made. */
export type DescribedApi = Pick<ConsoleBackend, 'apiUrl' | 'keyHeader' | 'routes'>;

/** A call of the partner API to show as code. */
export interface ApiCall {
  /** Operation id in the OpenAPI description, such as `getPayment`. */
  readonly operation: string;
  /**
   * Value of the parameter in the path. `null` if unknown: the snippet then reads it from the variable `ID`.
   */
  readonly id: string | null;
  /** Body of the request as a JSON value; `null` for none. */
  readonly body: unknown;
}

/** Returns the route of an operation. @throws TypeError if the partner API does not have it */
function routeOf({ routes }: DescribedApi, { operation }: ApiCall): ConsoleRoute {
  const route = routes.find((candidate) => candidate.operation === operation);
  if (route === undefined) throw new TypeError(`console: there is no operation ${operation}`);
  return route;
}

/** Quotes a text for a POSIX shell. Within single quotes, only a single quote has a special meaning. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Names of headers that curl sends by itself. */
const curlSays = new Set(['host', 'connection', 'content-length']);

const command = (words: readonly string[]): string => words.join(' \\\n  ');

/** Formats a request as a curl command. `--globoff` makes curl take brackets in the URL literally. */
export function curlOf({ method, url, headers, body }: Omit<AttemptRequest, 'changedAt'>): string {
  return command([
    `curl --globoff --request ${quoted(method)} ${quoted(url)}`,
    ...headers.flatMap(([name, value]) =>
      curlSays.has(name.toLowerCase()) ? [] : [`--header ${quoted(`${name}: ${value}`)}`],
    ),
    `--data-raw ${quoted(body)}`,
  ]);
}

/** Returns the names of the arguments of an SDK call. */
function argumentsOf(sdk: SdkCall): readonly string[] {
  const list = /\((.*)\)$/.exec(sdk.call)?.[1] ?? '';
  return list.split(', ').filter((name) => name !== '');
}

/** Returns the name of the parameter that an operation takes in its query; `null` if it takes none. */
function queryParameterOf({ sdk, path }: ConsoleRoute): string | null {
  const names = sdk === null ? [] : argumentsOf(sdk);
  return names.find((name) => name !== 'body' && !path.includes(`:${name}`)) ?? null;
}

/** Formats a call of the partner API as a curl command, which reads the key from the environment. */
export function apiCurlOf(api: DescribedApi, call: ApiCall): string {
  const { id, body } = call;
  const route = routeOf(api, call);
  const { method, path } = route;
  const [before = '', after] = path.split(/:[a-z]+/);
  const known = id === null ? '' : encodeURIComponent(id);
  const inQuery = queryParameterOf(route);
  const url =
    after === undefined || id !== null
      ? quoted(api.apiUrl(`${before}${after === undefined ? '' : `${known}${after}`}`))
      : `${quoted(api.apiUrl(before))}"$ID"${after === '' ? '' : quoted(after)}`;
  return command([
    `curl --globoff --request ${quoted(method)} ${url}`,
    ...(inQuery === null
      ? []
      : [`--get --data-urlencode ${quoted(`${inQuery}=${id ?? ''}`)}${id === null ? '"$ID"' : ''}`]),
    `--header "${api.keyHeader}: $OSTIARY_API_KEY"`,
    ...(body === null
      ? []
      : ["--header 'Content-Type: application/json'", `--data-raw ${quoted(JSON.stringify(body))}`]),
  ]);
}

/**
 * Formats JSON as a JavaScript expression. A member `__proto__` becomes `["__proto__"]`, because an object literal
 * would set the prototype instead.
 */
const expressionOf = (json: unknown): string =>
  JSON.stringify(json, null, 2).replaceAll(/^( *)"__proto__":/gm, '$1["__proto__"]:');

/**
 * Formats a call of the partner API as a program with `@ostiary/client-sdk`; `null` if the SDK lacks the
 * operation.
 */
export function sdkCodeOf(api: DescribedApi, call: ApiCall): string | null {
  const { sdk, bodyIsOptional } = routeOf(api, call);
  if (sdk === null) return null;
  const environment = (name: string): string => `process.env.${name} ?? ''`;
  const id = call.id === null ? environment('ID') : JSON.stringify(call.id);
  const isLeftOut = call.body === null || (bodyIsOptional && JSON.stringify(call.body) === '{}');
  const given = argumentsOf(sdk).flatMap((name) => {
    if (name !== 'body') return [id];
    return isLeftOut ? [] : [expressionOf(call.body)];
  });
  const made = `ostiary.${sdk.call.replace(/\(.*\)$/, '')}(${given.join(', ')})`;
  const statement = sdk.isList
    ? `for await (const item of ${made}) console.log(item);`
    : `console.log(await ${made});`;
  return `import { OstiaryPartner } from '@ostiary/client-sdk';

const ostiary = new OstiaryPartner({
  apiKey: ${environment('OSTIARY_API_KEY')},
  baseUrl: ${JSON.stringify(api.apiUrl('').replace(/\/$/, ''))},
});
${statement}
`;
}

/**
 * Makes a button that copies the text beside it in a `.snippet`, or `text` if given. It is hidden without
 * scripts.
 */
export function copyButton({ words: { snippets: words } }: Voice, title: string, text = ''): Html {
  return html`<button type="button" class="compact" data-copy="${text}" data-done="${words.copied}" data-failed="${words.notCopied}">${words.copy} <span class="hidden">${title}</span></button>`;
}

/**
 * Shows a text to copy: with a button if scripts run (`conveniences.ts`), otherwise as text that can be
 * selected.
 */
export function snippet(voice: Voice, title: string, text: string): Html {
  // If the page shows replacements for characters that hide or reorder text, the button copies the original.
  const isShown = visibleText(text) === text;
  const button = copyButton(voice, title, isShown ? '' : text);
  return html`<div class="snippet"><div class="head"><strong class="small">${title}</strong>${button}</div>${foreignText(text, title)}</div>`;
}

/** Shows a call of the partner API as a curl command and as code, collapsed behind its title. */
export function apiSnippets(
  api: DescribedApi,
  voice: Voice,
  {
    id,
    title,
    about,
    call,
  }: {
    readonly id: string;
    readonly title: string;
    /** Heading of the section, repeated for screen reader users who jump between collapsed parts. */
    readonly about?: string;
    readonly call: ApiCall;
  },
): Html {
  const { snippets: words } = voice.words;
  const code = sdkCodeOf(api, call);
  const needsId = call.id === null && routeOf(api, call).path.includes(':');
  return html`<details id="${id}"><summary class="small">${title}${about === undefined ? null : html`<span class="hidden">: ${about}</span>`}</summary><div class="small muted">${words.key}${needsId ? html` ${words.unknownId}` : null}</div>${snippet(voice, fillText(voice.language, words.curl, { title }), apiCurlOf(api, call))}${code === null ? null : snippet(voice, fillText(voice.language, words.sdk, { title }), code)}</details>`;
}
