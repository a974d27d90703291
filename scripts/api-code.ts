/**
 * Code of each call of the partner API for its reference page, made from the table of routes: curl, Node and
 * Python.
 */
import type { ConsoleRoute } from '@ostiary/core/console';
import {
  type ApiCall,
  apiCurlOf,
  type DescribedApi,
  pythonCodeOf,
  sdkCodeOf,
} from '../packages/console/src/snippets.ts';

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

const block = (name: string, language: string, code: string): string =>
  `**${name}**\n\n\`\`\`${language}\n${code.trimEnd()}\n\`\`\``;

/** Returns the code of an API call in each language, as a group of tabs. */
export function codeOf(route: ConsoleRoute, call: SampleCall): string {
  // The argument of the SDK that is in the query, such as `kid`, stands in the place of the id.
  const isInQuery = route.sdk !== null && call.id === null && Object.keys(call.query).length === 1;
  const known = isInQuery ? { ...call, id: Object.values(call.query)[0] ?? null, query: {} } : call;
  const api: DescribedApi = { keyHeader, routes: [route], apiUrl: (path) => `${baseUrl}${path}` };
  return [
    '<!-- code-group -->',
    block('curl', 'bash', apiCurlOf(api, known)),
    block('Node', 'ts', sdkCodeOf(api, known) ?? exportProgram(call.query)),
    block('Python', 'python', pythonCodeOf(api, known)),
    '<!-- /code-group -->',
  ].join('\n\n');
}
