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
   * Value of the id that the operation takes, in its path or its query. `null` if unknown: the snippet then
   * reads it from the variable `ID`.
   */
  readonly id: string | null;
  /** Body of the request as a JSON value; `null` for none. */
  readonly body: unknown;
  /** Further parameters of the query. @defaultValue none */
  readonly query?: { readonly [name: string]: string };
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

/**
 * Returns the URL of a call: the text before the id and after it. The text after the id is `null` if the URL is known
 * whole.
 */
function urlOf(api: DescribedApi, call: ApiCall): readonly [before: string, after: string | null] {
  const [before = '', after] = routeOf(api, call).path.split(/:[a-z]+/);
  if (after === undefined) return [api.apiUrl(before), null];
  if (call.id === null) return [api.apiUrl(before), after];
  return [api.apiUrl(`${before}${encodeURIComponent(call.id)}${after}`), null];
}

/**
 * Returns the parameters in the query of a call. A value of `null` stands for the id, which the snippet reads
 * from the variable `ID`.
 */
function parametersOf(api: DescribedApi, call: ApiCall): readonly (readonly [string, string | null])[] {
  const inQuery = queryParameterOf(routeOf(api, call));
  const given = Object.entries(call.query ?? {});
  return inQuery === null ? given : [...given, [inQuery, call.id]];
}

/**
 * Formats a call of the partner API as a curl command, which reads the API key from an environment variable.
 */
export function apiCurlOf(api: DescribedApi, call: ApiCall): string {
  const { body } = call;
  const { method } = routeOf(api, call);
  const [before, after] = urlOf(api, call);
  const url = after === null ? quoted(before) : `${quoted(before)}"$ID"${after === '' ? '' : quoted(after)}`;
  const parameters = parametersOf(api, call).map(
    ([name, value]) => `--data-urlencode ${quoted(`${name}=${value ?? ''}`)}${value === null ? '"$ID"' : ''}`,
  );
  return command([
    `curl --globoff --request ${quoted(method)} ${url}`,
    ...parameters.map((parameter, index) => (index === 0 ? `--get ${parameter}` : parameter)),
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
  const named = argumentsOf(sdk).flatMap((name) => {
    if (name !== 'body') return [id];
    return isLeftOut ? [] : [expressionOf(call.body)];
  });
  const query = call.query ?? {};
  const given = Object.keys(query).length === 0 ? named : [...named, expressionOf(query)];
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

/** Formats a call of the partner API as a Python program that uses only the standard library. */
export function pythonCodeOf(api: DescribedApi, call: ApiCall): string {
  const { method } = routeOf(api, call);
  const [before, after] = urlOf(api, call);
  const parameters = parametersOf(api, call);
  // A JSON string is also a Python string literal.
  const text = (value: string): string => JSON.stringify(value);
  const variable = 'environ["ID"]';
  const pairs = parameters.map(
    ([name, value]) => `${text(name)}: ${value === null ? variable : text(value)}`,
  );
  const url = [
    text(parameters.length === 0 ? before : `${before}?`),
    ...(after === null ? [] : [`quote(${variable}, safe="")`, ...(after === '' ? [] : [text(after)])]),
    ...(parameters.length === 0 ? [] : [`urlencode({${pairs.join(', ')}})`]),
  ].join(' + ');
  const helpers = [after === null ? null : 'quote', parameters.length === 0 ? null : 'urlencode'];
  const imported = helpers.filter((name) => name !== null).join(', ');
  const headers = [
    `${text(api.keyHeader)}: environ["OSTIARY_API_KEY"]`,
    ...(call.body === null ? [] : ['"Content-Type": "application/json"']),
  ];
  const lines = [
    `    ${url},`,
    `    method=${text(method)},`,
    `    headers={${headers.join(', ')}},`,
    ...(call.body === null ? [] : [`    data=${text(JSON.stringify(call.body))}.encode(),`]),
  ];
  return `from os import environ
${imported === '' ? '' : `from urllib.parse import ${imported}\n`}from urllib.request import Request, urlopen

request = Request(
${lines.join('\n')}
)
with urlopen(request) as response:
    print(response.read().decode())
`;
}

/**
 * Makes a button that copies the text beside it in a `.snippet`, or `text` if given. The button is hidden if
 * scripts do not run. `text` is percent-encoded in the page, because HTML cannot contain control characters.
 */
export function copyButton({ words: { snippets: words } }: Voice, title: string, text = ''): Html {
  return html`<button type="button" class="compact" data-copy="${encodeURIComponent(text.toWellFormed())}" data-done="${words.copied}" data-failed="${words.notCopied}">${words.copy} <span class="hidden">${title}</span></button>`;
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

/** Shows a call of the partner API as a curl command, with the SDK and in Python, collapsed behind its title. */
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
  return html`<details id="${id}"><summary class="small">${title}${about === undefined ? null : html`<span class="hidden">: ${about}</span>`}</summary><div class="small muted">${words.key}${needsId ? html` ${words.unknownId}` : null}</div>${snippet(voice, fillText(voice.language, words.curl, { title }), apiCurlOf(api, call))}${code === null ? null : snippet(voice, fillText(voice.language, words.sdk, { title }), code)}${snippet(voice, fillText(voice.language, words.python, { title }), pythonCodeOf(api, call))}</details>`;
}
