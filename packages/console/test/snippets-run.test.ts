import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, it } from 'vitest';
import { descriptionOf, operationsOf } from '../../core/test/support/openapi.ts';
import type { Json } from '../../core/test/support/provider.ts';
import { visited } from './console-kit.ts';

/** Runs a program, and returns its output and exit code. */
async function run(program: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(program, args, {
    cwd: import.meta.dirname,
    env: { ...process.env, no_proxy: '*', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, output, errors };
}

/** Runs a curl command and returns the status of the response. */
async function statusOf(curl: string, env: Readonly<Record<string, string>>): Promise<number> {
  const { output } = await run('sh', ['-c', `${curl} --silent --write-out '\\n%{http_code}'`], env);
  return Number(output.split('\n').at(-1));
}

/** Runs a Python program. @returns its error output, '' if it succeeded */
async function scriptProblemOf(code: string, env: Readonly<Record<string, string>>): Promise<string> {
  return (await run('python3', ['-c', code], env)).errors;
}

/** Runs a program that uses the SDK. @returns its error output, which is '' if it succeeded */
async function problemOf(code: string, env: Readonly<Record<string, string>>): Promise<string> {
  const flags = ['--conditions=ostiary-source', '--input-type=module', '--eval', code];
  const ended = await run(process.execPath, flags, env);
  return ended.code === 0 ? '' : ended.errors;
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" };
const unescaped = (markup: string): string =>
  markup.replaceAll(/&(lt|gt|quot|amp|#39);/g, (_, name: string) => entities[name] ?? '');

/** Returns the curl commands and programs that a page shows. */
function snippetsOf(page: string) {
  const all = Array.from(page.matchAll(/<pre [^>]*>\n([^<]*)<\/pre>/g), ([, markup = '']) =>
    unescaped(markup),
  );
  return {
    curls: all.filter((one) => one.startsWith('curl ')),
    programs: all.filter((one) => one.startsWith('import ')),
    scripts: all.filter((one) => one.startsWith('from os ')),
  };
}

const endpoint = { url: 'https://receiver.example/hook', events: ['*'], secret: 'whsec_0123456789abcdef' };
const payment = { amount: '125.00', currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' } };

const { kit, key, browser } = await visited();
const { provider } = kit;
const called = async (target: string, body: unknown) =>
  (await provider.partnerCall(key, target, body)).json();
const newEndpoint = async () => String((await called('POST /v1/partner/webhooks', endpoint)).id);
const newPassport = async () => String((await called('POST /v1/partner/sandbox/passports', {})).token);

/**
 * Sample request of an operation: the id in its path, its body, and its query string with the question mark.
 */
interface Sample {
  readonly id?: () => Promise<string>;
  readonly body?: () => Promise<Json> | Json;
  readonly query?: string;
}
let samples: Readonly<Record<string, Sample>> = {};
beforeAll(async () => {
  const transfer = String((await called('POST /v1/partner/payments', payment)).id);
  const event = await kit.event(key);
  const kept = await newEndpoint();
  const ofKept = async () => kept;
  samples = {
    verifyPassport: { body: async () => ({ token: await newPassport() }) },
    createPayment: { body: () => payment },
    listPayments: {},
    getPayment: { id: async () => transfer },
    getUserByPhone: { id: async () => '+50900000001' },
    getUser: { id: async () => 'KID-TEST-APPROVED' },
    findUser: { id: async () => 'KID-TEST-APPROVED', query: '?kid=KID-TEST-APPROVED' },
    exportReconciliation: { query: `?date=${new Date().toISOString().slice(0, 10)}` },
    createWebhook: { body: () => endpoint },
    listWebhooks: {},
    getWebhook: { id: ofKept },
    updateWebhook: { id: ofKept, body: () => ({ enabled: true }) },
    deleteWebhook: { id: newEndpoint },
    listDeliveries: { id: ofKept },
    recoverWebhook: { id: ofKept, body: () => ({ since: '2026-01-01T00:00:00Z' }) },
    listInboxRequests: { id: ofKept },
    listEvents: {},
    redeliverEvent: { id: async () => event, body: () => ({}) },
    createSandboxEvent: { body: () => ({ type: 'webhook.test' }) },
    createSandboxPassport: { body: () => ({ kid: 'KID-TEST-APPROVED' }) },
    whoami: {},
  };
});

/** Operations that programs with an inbox call all the time. The request log leaves them out. */
const notLogged: ReadonlySet<string> = new Set(['takeInboxRequests', 'answerInboxRequest']);

/**
 * Operations whose Python snippets are run: one with a body, one with an id in the path, and one with an id
 * in the query.
 */
const scripted: ReadonlySet<string> = new Set(['createPayment', 'getPayment', 'findUser']);

/** Replaces what the request log has removed, as the page instructs. */
function filledIn(snippet: string, body: Json | undefined): string {
  const removed = [body?.token, body?.secret].find((value) => typeof value === 'string');
  return removed === undefined ? snippet : snippet.replaceAll('[removed]', removed);
}

it('the page of a logged request shows how to repeat it with curl and with the SDK, for every operation', async () => {
  const operations = operationsOf(await descriptionOf(provider)).filter(
    ({ operation: { operationId } }) => !notLogged.has(operationId),
  );
  expect(operations.map(({ operation }) => operation.operationId).sort()).toEqual(
    Object.keys(samples).sort(),
  );
  for (const { method, path, operation } of operations) {
    const { id: newId, body: newBody, query = '' } = samples[operation.operationId] ?? {};
    const target = `${method} ${path.replace(/\{\w+\}/, (await newId?.()) ?? '')}${query}`;
    const answer = await provider.partnerCall(key, target, await newBody?.());
    const requestId = String(answer.headers.get('x-request-id'));
    const where = `/sandbox/requests/${requestId}`;
    await expect.poll(async () => (await browser.get(where)).status).toBe(200);
    const { curls, programs, scripts } = snippetsOf((await browser.get(where)).text);
    const name = operation.operationId;
    expect([name, curls.length, programs.length]).toEqual([name, 1, name === 'exportReconciliation' ? 0 : 1]);
    const environment = async () => ({
      OSTIARY_API_KEY: key.key,
      ...(newId !== undefined && { ID: await newId() }),
    });
    expect([name, answer.status < 300, scripts.length]).toEqual([name, true, 1]);
    for (const script of scripted.has(name) ? scripts : [])
      expect([name, await scriptProblemOf(script, await environment())]).toEqual([name, '']);
    const body = await newBody?.();
    for (const curl of curls) {
      const command = filledIn(curl, body).replace('/reconciliation', `$&${query}`);
      expect([name, await statusOf(command, await environment())]).toEqual([name, answer.status]);
    }
    for (const program of programs)
      expect([name, await problemOf(filledIn(program, body), await environment())]).toEqual([name, '']);
  }
});

it('the pages of the console contain no snippet that the API refuses', async () => {
  const fresh = await visited();
  const data = { message: 'it\'s "quoted" $HOME `id` \\n \n\t; # * ? [a] {b,c} %s é 🗝️' };
  const event = await called('POST /v1/partner/sandbox/events', { type: 'webhook.test', data });
  const pages: [typeof browser, string, string][] = [
    [fresh.browser, '/sandbox', fresh.key.key],
    [browser, '/sandbox/tools', key.key],
    [browser, `/sandbox/events/${event.id}`, key.key],
  ];
  for (const [visitor, path, apiKey] of pages) {
    const { curls, programs } = snippetsOf((await visitor.get(path)).text);
    expect(curls.length, path).toBeGreaterThan(1);
    expect(programs, path).toHaveLength(curls.length);
    // Replaces the placeholders for the reader's URL and secret.
    const own = (snippet: string) =>
      snippet
        .replace('https://…', endpoint.url)
        .replace(/"secret":( ?)"…"/, `"secret":$1"${endpoint.secret}"`);
    const env = { OSTIARY_API_KEY: apiKey };
    for (const curl of curls) expect([curl, (await statusOf(own(curl), env)) < 300]).toEqual([curl, true]);
    for (const program of programs)
      expect([program, await problemOf(own(program), env)]).toEqual([program, '']);
  }
  const { data: events } = await called('GET /v1/partner/events?limit=100', undefined);
  const same = (events as { data: unknown }[]).filter(
    (one) => JSON.stringify(one.data) === JSON.stringify(data),
  );
  expect(same).toHaveLength(3);
});

it('a request of the log without its own operation has no snippet that would fail', async () => {
  const answer = await provider.partnerCall(key, 'HEAD /v1/partner/users/KID-TEST-APPROVED');
  const where = `/sandbox/requests/${answer.headers.get('x-request-id')}`;
  await expect.poll(async () => (await browser.get(where)).status).toBe(200);
  expect(snippetsOf((await browser.get(where)).text)).toEqual({ curls: [], programs: [], scripts: [] });
});

it('the pages of payments show how to read what they show', async () => {
  const day = new Date(provider.clock.now()).toISOString().slice(0, 10);
  const reference = 'it\'s "7" $HOME é 🗝️';
  const { id } = await called('POST /v1/partner/payments', { ...payment, reference });
  const query = new URLSearchParams({ status: 'pending', reference, from: day });
  const pages = [`payments?${query}`, `payments/${id}`, `reconciliation?day=${day}`];
  const env = { OSTIARY_API_KEY: key.key };
  for (const path of pages) {
    const { curls, programs, scripts } = snippetsOf((await browser.get(`/sandbox/${path}`)).text);
    const counts = [curls.length, programs.length, scripts.length];
    expect([path, counts]).toEqual([path, [1, path.startsWith('reconciliation') ? 0 : 1, 1]]);
    const outputs = [
      ...(await Promise.all(curls.map((curl) => run('sh', ['-c', `${curl} --silent --fail`], env)))),
      ...(await Promise.all(scripts.map((script) => run('python3', ['-c', script], env)))),
    ];
    for (const { code, output, errors } of outputs) {
      expect([path, code, errors]).toEqual([path, 0, '']);
      expect(output).toContain(path.startsWith('payments') ? String(id) : '#summary');
    }
    for (const program of programs) expect([path, await problemOf(program, env)]).toEqual([path, '']);
  }
});
