/**
 * Code of each call of the partner API for its reference page, made from the table of routes: curl, Node and
 * Python.
 */
import type { ConsoleRoute } from '@ostiary/core/console';
import { type ApiCall, apiCurlOf, type DescribedApi, sdkCodeOf } from '../packages/console/src/snippets.ts';

/** URL of the partner API in the documentation's examples. */
const baseUrl = 'https://api.example.com';
const keyHeader = 'X-API-Key';

/** A sample API call: its operation, the parameter in its path, its query, and its body. */
export interface SampleCall extends ApiCall {
  readonly query: Readonly<Record<string, string>>;
}

/**
 * Makes a program that reads an export with the SDK. Exports have a function in the SDK instead of a method
 * of the client.
 */
const exportProgram = ({
  date,
}: SampleCall['query']): string => `import { OstiaryPartner } from '@ostiary/client-sdk';
import { exportReconciliation } from '@ostiary/client-sdk/reconciliation';

const ostiary = new OstiaryPartner({
  apiKey: process.env.OSTIARY_API_KEY ?? '',
  baseUrl: '${baseUrl}',
});
const day = exportReconciliation(ostiary, { date: ${JSON.stringify(date)} });
for await (const row of day) console.log(row);
console.log(day.summary);
`;

/** Formats JSON as a Python expression. */
function pythonOf(json: unknown, indent = ''): string {
  if (json === null) return 'None';
  if (typeof json === 'boolean') return json ? 'True' : 'False';
  if (typeof json !== 'object') return JSON.stringify(json);
  const inner = `${indent}    `;
  if (Array.isArray(json)) return `[${json.map((item) => pythonOf(item, inner)).join(', ')}]`;
  const members = Object.entries(json).map(
    ([name, value]) => `${inner}${JSON.stringify(name)}: ${pythonOf(value, inner)},\n`,
  );
  return `{\n${members.join('')}${indent}}`;
}

/** Formats an API call as a Python program with httpx, which reads the API key from the environment. */
function pythonCodeOf({ method, path }: ConsoleRoute, { id, query, body }: SampleCall): string {
  const target = path.replace(/:\w+/, encodeURIComponent(id ?? ''));
  const given = [
    JSON.stringify(target),
    ...(Object.keys(query).length === 0 ? [] : [`params=${pythonOf(query)}`]),
    ...(body === null ? [] : [`json=${pythonOf(body)}`]),
  ];
  return `import os

import httpx

ostiary = httpx.Client(
    base_url="${baseUrl}",
    headers={"${keyHeader}": os.environ["OSTIARY_API_KEY"]},
)
answer = ostiary.${method.toLowerCase()}(${given.join(', ')})
answer.raise_for_status()
print(answer.json())
`;
}

const block = (name: string, language: string, code: string): string =>
  `**${name}**\n\n\`\`\`${language}\n${code.trimEnd()}\n\`\`\``;

/** Returns the code of an API call in each language, as a group of tabs. */
export function codeOf(route: ConsoleRoute, call: SampleCall): string {
  // The argument of the SDK that is in the query, such as `kid`, stands in the place of the id.
  const isInQuery = route.sdk !== null && call.id === null && Object.keys(call.query).length === 1;
  const known = isInQuery ? { ...call, id: Object.values(call.query)[0] ?? null } : call;
  const search = isInQuery ? '' : new URLSearchParams(call.query).toString();
  const api: DescribedApi = { keyHeader, routes: [route], apiUrl: (path) => `${baseUrl}${path}` };
  const withQuery = {
    ...api,
    apiUrl: (path: string) => `${api.apiUrl(path)}${search === '' ? '' : `?${search}`}`,
  };
  return [
    '<!-- code-group -->',
    block('curl', 'bash', apiCurlOf(withQuery, known)),
    block('Node', 'ts', sdkCodeOf(api, known) ?? exportProgram(call.query)),
    block('Python', 'python', pythonCodeOf(route, call)),
    '<!-- /code-group -->',
  ].join('\n\n');
}
