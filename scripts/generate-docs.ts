/**
 * Writes the pages below docs/reference from the tables in the source: scopes, errors, endpoints (of OAuth
 * and of the partner API), events, options; and the commands that install packages on other pages. With
 * `--check` it writes nothing and exits 1 if a page differs from the source.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { operatorsConsole, sandboxConsole } from '@ostiary/console';
import type { Administration } from '@ostiary/core/admin';
import type { ConsolePage, OperatorBackend, OperatorPage } from '@ostiary/core/console';
import { memoryStorage } from '@ostiary/testing/memory';
import en from '../packages/core/languages/en.json' with { type: 'json' };
import { type ErrorDefinition, oauthErrors, partnerErrors } from '../packages/core/src/errors.ts';
import { events } from '../packages/core/src/events.ts';
import type { Route } from '../packages/core/src/http/route.ts';
import { addressLimits, partnerLimits } from '../packages/core/src/limits/request-limits.ts';
import { defaultOptions } from '../packages/core/src/options/defaults.ts';
import { assembleWithTables } from '../packages/core/src/ostiary.ts';
import { offlineAccessConsent, readyScopes } from '../packages/core/src/scopes/ready-scopes.ts';
import { offlineAccess, scopeNames, scopes } from '../packages/core/src/scopes/scopes.ts';
import { pagesThatInstall } from './install-commands.ts';
import { entriesIn, interfaceIn, unionIn } from './shapes.ts';

/** The parts of a console's page that the table shows. */
type Page = Pick<ConsolePage, 'path' | 'summary'> & { readonly GET?: unknown; readonly POST?: unknown };

const root = resolve(import.meta.dirname, '..');
const generated = '<!-- Written by `npm run docs` from the source. Edit the source instead. -->';

const row = (...cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

function scopesPage(): string {
  const rows = scopeNames.flatMap((scope) =>
    Object.entries(scopes[scope].fields).map(([field, { description }], index) => {
      if (description === undefined) throw new Error(`scopes/scopes.ts: ${field} is not described`);
      return row(index === 0 ? `\`${scope}\`` : '', `\`${field}\``, description);
    }),
  );
  return `# Scopes

What userinfo answers, by approved scope. Ask for what you need: the user approves all scopes of a request or none. Without
\`openid\` the request is plain OAuth: there is no ID token, and userinfo answers the fields of the approved scopes only.

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

Errors are JSON, \`{ "error", "error_description" }\`, with the status below. Errors of an authorization request go back to
the redirect URI instead, as parameters, unless the caller prefers JSON; where the client or its redirect URI is not right, the
browser is never redirected and sees a page. Every answer carries \`X-Request-Id\`: quote it when you ask for help. Descriptions are for people
and may change; decide by the code.

| error | Status | When |
|---|---|---|
${rows.join('\n')}`;
}

function partnerErrorsPage(): string {
  return `# Errors of the partner API

Errors are JSON, \`{ "code", "message", "requestId", "details" }\`. \`details\` is there when a field, parameter or header is to blame: a list of
\`{ "path", "message" }\`. \`requestId\` is the header \`X-Request-Id\` once more. Messages are for people and may change; decide by the code.

| code | Status | When |
|---|---|---|
${errorRows(partnerErrors).join('\n')}`;
}

/** Pages of both consoles, as the service requests them. */
let consolePages: readonly ConsolePage[] = [];
let operatorPages: readonly OperatorPage<Administration>[] = [];

/** Creates a service with every option that has routes, on a storage in memory. It handles no requests. */
const service = await assembleWithTables(
  {
    authUrl: 'http://localhost',
    storage: memoryStorage(),
    sealingKeys: [new Uint8Array(32)],
    users: { find: () => null, findByKid: () => null, findByPhone: () => null },
    login: { authenticate: () => null, loginUrl: () => '/', signOut: () => undefined },
    payments: { execute: async () => ({ status: 'pending' }) },
    introspection: true,
    refreshTokens: {},
    console: {
      ...sandboxConsole(),
      pages(backend) {
        consolePages = sandboxConsole().pages(backend);
        return consolePages;
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
await service.ostiary.close();

function partnerEndpointsPage(): string {
  const table = service.partnerRoutes;
  const rows = table.map(({ method, path, scope, limit, idempotent, summary, testOnly }) =>
    row(
      method,
      `\`${path.replace(/:(\w+)/g, '{$1}')}\``,
      scope === null ? 'any key' : `\`${scope}\``,
      limit,
      idempotent ? 'yes' : 'no',
      testOnly === true ? `${summary} Test keys only.` : summary,
    ),
  );
  const limits = Object.entries(partnerLimits)
    .filter(([group]) => table.some(({ limit }) => limit === group))
    .map(([group, { requests, windowSeconds }]) =>
      row(group, `${requests} requests in ${windowSeconds} seconds`),
    );
  return `# Endpoints of the partner API

Below \`baseUrl\`. Every request carries \`X-API-Key\`. The last but one column says whether \`Idempotency-Key\` means something there. Fields and answers
are described by \`GET /v1/openapi.json\` (OpenAPI 3.1), which needs no key.

| Method | Path | Scope | Limit | Idempotent | |
|---|---|---|---|---|---|
${rows.join('\n')}

## Limits

Unless the host has set others. Each group is counted for itself.

| Limit | |
|---|---|
${limits.join('\n')}`;
}

function eventsPage(): string {
  const sections = Object.entries(events).map(([type, { summary, when, example }]) => {
    const body = { id: 'evt_…', type, createdAt: '2026-01-01T12:00:01.000Z', mode: 'test', data: example };
    return `## \`${type}\`\n\n${summary} ${when}\n\n\`\`\`json\n${JSON.stringify(body, null, 2)}\n\`\`\``;
  });
  return `# Events

What is sent to webhook endpoints. A service may have types of its own besides these; \`GET /v1/openapi.json\` describes those too.
Members may be added to \`data\` at any time.

${sections.join('\n\n')}`;
}

function endpointsPage(): string {
  const shown = new Set(consolePages.map(({ path }) => path));
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

\`authUrl\` and \`baseUrl\` are options; they may be the same. Discovery names all of them.

| Method | Address | |
|---|---|---|
${routes.map(rowOf).join('\n')}

## Sandbox console

Pages, with the option \`console\` and \`sandboxConsole()\` of \`@ostiary/console\`. See [the sandbox console](../sandbox.md).

| Method | Address | |
|---|---|---|
${consolePages.map(pageRowOf).join('\n')}

## Pages for operators

With the option \`operators\` and \`operatorsConsole()\` of \`@ostiary/console\`. See [pages for operators](../operators.md).

| Method | Address | |
|---|---|---|
${operatorPages.map((page) => pageRowOf({ ...page, path: `/operators${page.path}` })).join('\n')}`;
}

/**
 * Types that a host implements or returns, by their source files; the options page explains its types with
 * these.
 */
const hostShapes: readonly (readonly [file: string, names: readonly string[]])[] = [
  ['packages/core/src/ports/users.ts', ['UserDirectory', 'UserRecord', 'ActiveCredential']],
  ['packages/core/src/ports/users.ts', ['Login', 'Authentication', 'LoginRequest']],
  ['packages/core/src/ports/payments.ts', ['PaymentRail', 'TransferOrder']],
];

/** Returns a union of words, as written in the source. */
const wordsIn = (file: string, name: string): string =>
  unionIn(`packages/core/src/ports/${file}`, name)
    .alternatives.map(({ type }) => type)
    .join(' | ');

/** Types that the tables show as the union of their values instead of by name. */
const words: { readonly [type: string]: string } = {
  KycStatus: wordsIn('users.ts', 'KycStatus'),
  Mode: wordsIn('partners.ts', 'Mode'),
  Currency: wordsIn('transfers.ts', 'Currency'),
};

/**
 * Returns the rows of options whose names and defaults come from a table of `limits/request-limits.ts`.
 * `after` is the option before them.
 */
function limitRows(after: string): string[] {
  const textsOf = (table: string) =>
    new Map(
      entriesIn('packages/core/src/limits/request-limits.ts', table).map(({ name, text }) => [name, text]),
    );
  if (after === 'OstiaryOptions limits') {
    const texts = textsOf('addressLimits');
    return Object.entries(addressLimits).map(([name, standard]) =>
      row(`\`limits.${name}\``, '`number`', String(standard), texts.get(name) ?? ''),
    );
  }
  if (after !== 'PartnerLimits store') return [];
  const texts = textsOf('partnerLimits');
  return Object.entries(partnerLimits).map(([name, { requests, windowSeconds }]) =>
    row(`\`${name}\``, '`PartnerLimit`', `${requests} in ${windowSeconds} seconds`, texts.get(name) ?? ''),
  );
}

/** Interfaces of nested options, with the prefix of their names. */
const optionInterfaces: { readonly [name: string]: string } = {
  OstiaryOptions: '',
  Theme: 'theme.',
  RefreshTokenOptions: 'refreshTokens.',
  PartnerLimits: 'partnerLimits.',
  WebhookOptions: 'webhooks.',
};

/** Writes a default as TypeScript would, or returns `null` if it is not a plain value. */
function literalOf(value: unknown): string | null {
  if (typeof value === 'string') return `\`"${value}"\``;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!Array.isArray(value)) return null;
  return `\`[${value.map((item) => (typeof item === 'string' ? `'${item}'` : item)).join(', ')}]\``;
}

/** Returns the default of an option. @throws Error if the comment of the option differs from the code */
function defaultOf(path: string, words: string | null): string {
  const value = path.split('.').reduce<unknown>((outer, name) => Object(outer)[name], defaultOptions);
  const literal = literalOf(value);
  if (literal !== null && literal !== words)
    throw new Error(
      `options/options.ts: the default of ${path} is ${literal}, and @defaultValue says ${words}`,
    );
  return words ?? 'none';
}

function optionsPage(): string {
  const tables = Object.entries(optionInterfaces).map(([name, outer]) => {
    const { members } = interfaceIn('packages/core/src/options/options.ts', name);
    const rows = members.flatMap(({ path, type, isOptional, text, standard }) => [
      row(
        `\`${path}\``,
        type === null ? 'object' : `\`${type}\``,
        isOptional ? defaultOf(`${outer}${path}`, standard) : 'required',
        text,
      ),
      ...limitRows(`${name} ${path}`),
    ]);
    return `## ${name}\n\n| Option | Type | Default | |\n|---|---|---|---|\n${rows.join('\n')}`;
  });
  const shapes = hostShapes.flatMap(([file, names]) =>
    names.map((name) => {
      const { text, members } = interfaceIn(file, name);
      const rows = members.map((member) =>
        row(
          `\`${member.path}\``,
          member.type === null ? 'object' : `\`${words[member.type] ?? member.type}\``,
          member.isOptional ? 'no' : 'yes',
          [member.text, member.standard === null ? '' : `Without it: ${member.standard}.`].join(' ').trim(),
        ),
      );
      return `### ${name}\n\n${text}\n\n| Member | Type | Needed | |\n|---|---|---|---|\n${rows.join('\n')}`;
    }),
  );
  const { text, alternatives } = unionIn('packages/core/src/ports/payments.ts', 'TransferResult');
  const results = alternatives.map((one) => row(`\`${one.type.replaceAll('readonly ', '')}\``, one.text));
  return `# Options of createOstiary

Checked when \`createOstiary\` is called; an unknown option or a wrong value is a \`TypeError\` that names it.

${tables.join('\n\n')}

## What you bring

Your users, your login and your way of moving money. What your code answers is checked each time. What does not have this shape is a 500 for the caller (of \`execute\`: a
transfer that stays pending), and a line in the log that says what is wrong.

${shapes.join('\n\n')}

### TransferResult

${text}

| One of | |
|---|---|
${results.join('\n')}`;
}

/** Returns a row for each text of the pages, with its path. */
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

Texts are ICU messages. Keep each name in braces: the pages replace it by a value. Before a brace, write an apostrophe as \`’\` or \`''\`, because a single \`'\` quotes the brace.
\`months\` are twelve names, for languages whose dates JavaScript cannot write; leave them out otherwise.

| Path | English |
|---|---|
${textRows({ ...en, scopes: Object.fromEntries(own) }).join('\n')}

Scopes that you switch on have words too, and so has \`offline_access\` with refresh tokens. Scopes of your own have theirs with them.

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
