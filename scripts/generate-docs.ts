/**
 * Writes the pages below docs/reference from the tables in the source (scopes, texts of pages, errors, endpoints
 * of OAuth and of the partner API, events, options), and the commands on other pages that install packages. With
 * `--check` the script writes nothing and exits with code 1 if a page differs from the source.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { operatorsConsole, sandboxConsole } from '@ostiary/console';
import type { Administration } from '@ostiary/core/admin';
import type { ConsolePage, ConsoleRoute, OperatorBackend, OperatorPage } from '@ostiary/core/console';
import { memoryStorage } from '@ostiary/testing/memory';
import en from '../packages/core/languages/en.json' with { type: 'json' };
import { type ErrorDefinition, oauthErrors, partnerErrors } from '../packages/core/src/errors.ts';
import { events } from '../packages/core/src/events.ts';
import type { Route } from '../packages/core/src/http/route.ts';
import { partnerLimits } from '../packages/core/src/limits/request-limits.ts';
import { assembleWithTables } from '../packages/core/src/ostiary.ts';
import { offlineAccessConsent, readyScopes } from '../packages/core/src/scopes/ready-scopes.ts';
import { offlineAccess, scopeNames, scopes } from '../packages/core/src/scopes/scopes.ts';
import { type ApiDocument, apiSections } from './api-reference.ts';
import { pagesThatInstall } from './install-commands.ts';
import { optionsPage } from './options-page.ts';
import { row } from './table-row.ts';

/** Properties of a console page that the generated table shows. */
type Page = Pick<ConsolePage, 'path' | 'summary'> & { readonly GET?: unknown; readonly POST?: unknown };

const root = resolve(import.meta.dirname, '..');
const generated = '<!-- Written by `npm run docs` from the source. Edit the source instead. -->';

function scopesPage(): string {
  const rows = scopeNames.flatMap((scope) =>
    Object.entries(scopes[scope].fields).map(([field, { description }], index) => {
      if (description === undefined) throw new Error(`scopes/scopes.ts: ${field} is not described`);
      return row(index === 0 ? `\`${scope}\`` : '', `\`${field}\``, description);
    }),
  );
  return `# Scopes

The table lists the fields that userinfo returns for each approved scope. Request only the scopes that you need, because the user approves all scopes of a request or none.

A request without \`openid\` is plain OAuth: the app gets no ID token, and userinfo returns only the fields of the approved scopes.

| Scope | Field | Type |
|---|---|---|
${rows.join('\n')}`;
}

function errorRows(errors: { readonly [code: string]: ErrorDefinition }): string[] {
  return Object.entries(errors).map(([code, { status, when }]) => row(`\`${code}\``, String(status), when));
}

function errorsPage(): string {
  const rows = errorRows(oauthErrors);
  return `# Errors of the OAuth endpoints

An OAuth error is JSON, \`{ "error", "error_description" }\`, with the status in the table.

- Errors of an authorization request are sent to the redirect URI as parameters. If the caller prefers JSON, it gets JSON instead.
- If the client or its redirect URI is wrong, Ostiary never redirects the browser. The user sees an error page.
- Every response has the header \`X-Request-Id\`. Quote its value when you ask for help.
- Base your decisions on \`error\`. The text in \`error_description\` is meant for people and may change.

| error | Status | When |
|---|---|---|
${rows.join('\n')}`;
}

function partnerErrorsPage(): string {
  return `# Errors of the partner API

An error of the partner API is JSON, \`{ "code", "message", "requestId", "details" }\`.

- If a field, a parameter or a header is wrong, \`details\` is a list of \`{ "path", "message" }\`.
- \`requestId\` has the same value as the header \`X-Request-Id\`.
- Base your decisions on \`code\`. The text in \`message\` is meant for people and may change.

| code | Status | When |
|---|---|---|
${errorRows(partnerErrors).join('\n')}`;
}

/** Pages of the consoles and of the live portal, as the service requests them. */
let consolePages: readonly ConsolePage[] = [];
let portalPages: readonly ConsolePage[] = [];
let operatorPages: readonly OperatorPage<Administration>[] = [];
/** Routes of the partner API, from which the console makes its code to copy. */
let consoleRoutes: readonly ConsoleRoute[] = [];

/**
 * Creates a service with every option that has routes, on a storage in memory. Its only request is one for the
 * OpenAPI document.
 */
const service = await assembleWithTables(
  {
    authUrl: 'http://localhost',
    storage: memoryStorage(),
    sealingKeys: [new Uint8Array(32)],
    users: { find: () => null, findByKid: () => null, findByPhone: () => null },
    login: { authenticate: () => null, loginUrl: () => '/', signOut: () => undefined },
    payments: { execute: async () => ({ status: 'pending' }) },
    introspection: true,
    pushedRequests: {},
    refreshTokens: {},
    console: {
      ...sandboxConsole(),
      pages(backend) {
        consolePages = sandboxConsole().pages(backend);
        consoleRoutes = backend.routes;
        return consolePages;
      },
      portal: {
        linkPath: sandboxConsole().portal?.linkPath ?? '',
        pages(backend) {
          portalPages = sandboxConsole().portal?.pages(backend) ?? [];
          return portalPages;
        },
      },
    },
    operators: {
      authenticate: () => null,
      pages: {
        pages(backend: OperatorBackend) {
          operatorPages = operatorsConsole().pages(backend);
          return operatorPages;
        },
      },
    },
  },
  {},
);
const described = await service.ostiary.fetch(new Request('http://localhost/v1/openapi.json'));
const apiDocument = (await described.json()) as ApiDocument;
await service.ostiary.close();

function partnerEndpointsPage(): string {
  const table = service.partnerRoutes;
  const rows = table.map(({ method, path, summary, operation }) =>
    row(`[\`${method} ${path.replace(/:(\w+)/g, '{$1}')}\`](#${operation.toLowerCase()})`, summary),
  );
  const limits = Object.entries(partnerLimits)
    .filter(([group]) => table.some(({ limit }) => limit === group))
    .map(([group, { requests, windowSeconds }]) =>
      row(group, `${requests} requests in ${windowSeconds} seconds`),
    );
  return `# Reference of the partner API

This page has every operation of the partner API, with its parameters, its responses, its errors, and its call in curl, Node and Python. Each service describes its own partner API at \`GET /v1/openapi.json\` (OpenAPI 3.1), without an API key: event types, limits and the prefix of headers can differ from this page.

- Send the header \`X-API-Key\` with every request. The code on this page reads your key from the environment variable \`OSTIARY_API_KEY\`, and calls a service at \`https://api.example.com\`.
- The code for Node needs [the client SDK](../quickstart-partner.md#2-install-the-client). The code for Python needs no packages.
- On the documentation site, the form below each operation sends a request from your browser, with a **test key**. A browser may only call services that answer its origin: run \`npm start\` and \`npm run site:serve -- http://localhost:3000\` in a checkout, and the page at <http://localhost:4173/reference/partner-endpoints> reaches that service.
- Some operations accept an \`Idempotency-Key\`. The SDK sends such a key by itself.

| Operation | |
|---|---|
${rows.join('\n')}

## Limits

These are the default limits; a host may set others. The requests of each group are counted separately.

| Limit | |
|---|---|
${limits.join('\n')}

${apiSections(apiDocument, consoleRoutes)}`;
}

function eventsPage(): string {
  const sections = Object.entries(events).map(([type, { summary, when, example }]) => {
    const body = { id: 'evt_…', type, createdAt: '2026-01-01T12:00:01.000Z', mode: 'test', data: example };
    return `## \`${type}\`\n\n${summary} ${when}\n\n\`\`\`json\n${JSON.stringify(body, null, 2)}\n\`\`\``;
  });
  return `# Events

Ostiary sends these events to webhook endpoints. A service may also have event types of its own, which its \`GET /v1/openapi.json\` describes too. New members may be added to \`data\` at any time.

${sections.join('\n\n')}`;
}

function endpointsPage(): string {
  const shown = new Set([...consolePages, ...portalPages].map(({ path }) => path));
  const routes = service.routes.filter(
    ({ path, errors }) => errors !== 'partner' && !shown.has(path) && !path.startsWith('/operators'),
  );
  const rowOf = ({ path, below, handlers, summary }: Route): string => {
    const methods = Object.keys(handlers).filter((method) => method !== 'OPTIONS');
    return row(methods.join(', '), `\`{${below}}${path.replace(/:(\w+)/g, '{$1}')}\``, summary);
  };
  const pageRowOf = ({ path, summary, GET, POST }: Page): string => {
    const methods = [GET && 'GET', POST && 'POST'].filter((method) => method !== undefined);
    return row(methods.join(', '), `\`{authUrl}${path.replace(/:(\w+)/g, '{$1}')}\``, summary);
  };
  return `# Endpoints

\`authUrl\` and \`baseUrl\` are options, and may have the same value. The discovery document lists the URLs of the endpoints for apps.

| Method | URL | |
|---|---|---|
${routes.map(rowOf).join('\n')}

## Sandbox console

The option \`console\` with \`sandboxConsole()\` of \`@ostiary/console\` adds these pages. See [the sandbox console](../sandbox.md).

| Method | URL | |
|---|---|---|
${consolePages.map(pageRowOf).join('\n')}

## Live portal

The same option adds these pages for live data. See [the live portal](../sandbox.md#the-live-portal).

| Method | URL | |
|---|---|---|
${portalPages.map(pageRowOf).join('\n')}

## Pages for operators

The option \`operators\` with \`operatorsConsole()\` of \`@ostiary/console\` adds these pages. See [pages for operators](../operators.md).

| Method | URL | |
|---|---|---|
${operatorPages.map((page) => pageRowOf({ ...page, path: `/operators${page.path}` })).join('\n')}`;
}

/** Returns a table row for each text of the pages, with the text's path. */
function textRows(texts: object, path = ''): string[] {
  return Object.entries(texts).flatMap(([key, value]) => {
    const own = path === '' ? key : `${path}.${key}`;
    if (typeof value !== 'string') return textRows(Object(value), own);
    return [row(`\`${own}\``, value)];
  });
}

function textsPage(): string {
  const ready = Object.entries(readyScopes).map(([name, { consent }]) => [name, consent.en] as const);
  const own = scopeNames.map((name) => [name, scopes[name].consent.en] as const);
  const switched = { ...Object.fromEntries(ready), [offlineAccess]: offlineAccessConsent.en };
  return `# Words of the pages

A language of your own (option \`texts\`) needs a text for each path below. The package contains these texts as JSON: copy \`languages/en.json\` of \`@ostiary/core\` and translate it.

Texts are ICU messages. Keep each name in braces, because the pages replace the name with a value. Before a brace, write an apostrophe as \`’\` or \`''\`, because a single \`'\` quotes the brace.
\`months\` has the names of the twelve months. Add \`months\` only for a language whose dates JavaScript cannot format.

| Path | English |
|---|---|
${textRows({ ...en, scopes: Object.fromEntries(own) }).join('\n')}

The scopes that you switch on need texts too, and so does \`offline_access\` if you use refresh tokens. A scope of your own contains its texts in \`consent\`.

| Path | English |
|---|---|
${textRows({ scopes: switched }).join('\n')}`;
}

const pages = {
  'scopes.md': scopesPage(),
  'texts.md': textsPage(),
  'errors.md': errorsPage(),
  'endpoints.md': endpointsPage(),
  'partner-errors.md': partnerErrorsPage(),
  'partner-endpoints.md': partnerEndpointsPage(),
  'events.md': eventsPage(),
  'options.md': optionsPage(),
};
const files = new Map([
  ...Object.entries(pages).map(
    ([name, text]) => [`docs/reference/${name}`, `${generated}\n\n${text}\n`] as const,
  ),
  ...pagesThatInstall(),
]);
const check = process.argv.includes('--check');
for (const [name, page] of files) {
  const file = join(root, name);
  if (!check) writeFileSync(file, page);
  else if (readFileSync(file, 'utf8') !== page) {
    console.error(`${name} is not what the source says: run npm run docs`);
    process.exitCode = 1;
  }
}
console.log(`pages: ${files.size} ${check ? 'checked' : 'written'}`);
