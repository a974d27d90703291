import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import { expect, it } from 'vitest';
import { compilers } from '../../support/compilers.ts';
import { generatedFolder, type Subject, subject } from './support/generated.ts';

/** Source of a program that calls every operation with the generated types. */
const program = `
import createClient from 'openapi-fetch';
import type { components, paths, webhooks } from './partner-api.js';

type Answer = { readonly response: Response; readonly data?: unknown };
type Delivery<Type extends keyof webhooks> =
  webhooks[Type]['post']['requestBody']['content']['application/json'];

/** Function of the test program that narrows an event by its type. */
export function told(event: Delivery<'payment.completed'> | Delivery<'kyc.updated'>): string {
  return event.type === 'payment.completed' ? event.data.amount : event.data.previous.kycStatus;
}

// Response types: values that may be null, members that may be missing, and values that may get new names.
export const transfer = (it: components['schemas']['Transfer']): [string, string | null, string | undefined] => [
  it.status satisfies 'pending' | 'completed' | 'failed',
  it.completedAt,
  it.failure?.code,
];
export const later = 'order.brand_new' satisfies components['schemas']['Event']['type'];

export async function callEverything(
  baseUrl: string,
  apiKey: string,
  hook: string,
  day: string,
): Promise<Record<string, number>> {
  const api = createClient<paths>({ baseUrl, headers: { 'X-API-Key': apiKey } });
  const statuses: Record<string, number> = {};
  function done<Result extends Answer>(operation: string, answer: Result): NonNullable<Result['data']> {
    statuses[operation] = answer.response.status;
    if (answer.data === undefined || answer.data === null) throw new Error(\`\${operation}: \${answer.response.status}\`);
    return answer.data;
  }

  const passport = done('createSandboxPassport', await api.POST('/v1/partner/sandbox/passports', { body: { expired: false } }));
  const { user } = done('verifyPassport', await api.POST('/v1/partner/verify', { body: { token: passport.token } }));
  user.kycTier satisfies number | undefined;
  const paid = done('createPayment', await api.POST('/v1/partner/payments', {
    params: { header: { 'Idempotency-Key': 'order-1017' } },
    body: { amount: '125.00', currency: 'HTG', recipient: { phone: '+50900000001' }, metadata: { till: '4' } },
  }));
  done('getPayment', await api.GET('/v1/partner/payments/{id}', { params: { path: { id: paid.id } } }));
  const { data: [first] } = done('listPayments', await api.GET('/v1/partner/payments', { params: { query: { limit: 1, status: 'pending' } } }));
  if (first?.id !== paid.id) throw new Error('another transfer');
  done('getUser', await api.GET('/v1/partner/users/{kid}', { params: { path: { kid: user.kid } } }));
  done('findUser', await api.GET('/v1/partner/users', { params: { query: { kid: user.kid } } }));
  done('getUserByPhone', await api.GET('/v1/partner/users/phone/{phone}', { params: { path: { phone: '+50900000001' } } }));
  const { summary } = done('exportReconciliation', await api.GET('/v1/partner/reconciliation', { params: { query: { date: day } } })) as components['schemas']['Reconciliation'];
  summary.final satisfies boolean;
  const secret = 'whsec_0123456789abcdef';
  const endpoint = done('createWebhook', await api.POST('/v1/partner/webhooks', { body: { url: hook, events: ['*'], secret } }));
  const path = { id: endpoint.id };
  done('listWebhooks', await api.GET('/v1/partner/webhooks'));
  done('getWebhook', await api.GET('/v1/partner/webhooks/{id}', { params: { path } }));
  done('updateWebhook', await api.PATCH('/v1/partner/webhooks/{id}', { params: { path }, body: { events: ['webhook.test'] } }));
  const event = done('createSandboxEvent', await api.POST('/v1/partner/sandbox/events', { body: { type: 'webhook.test', data: { message: 'Hi' } } }));
  done('redeliverEvent', await api.POST('/v1/partner/events/{id}/redeliver', { params: { path: { id: event.id } }, body: { endpointId: endpoint.id } }));
  done('listEvents', await api.GET('/v1/partner/events', { params: { query: { after: 0, limit: 10 } } }));
  done('listDeliveries', await api.GET('/v1/partner/webhooks/{id}/deliveries', { params: { path, query: { status: 'pending' } } }));
  done('recoverWebhook', await api.POST('/v1/partner/webhooks/{id}/recover', { params: { path }, body: { since: '2026-01-01T00:00:00Z' } }));
  const inbox = done('createWebhook', await api.POST('/v1/partner/webhooks', { body: { url: 'inbox:listen', events: ['*'], secret } }));
  done('createSandboxEvent', await api.POST('/v1/partner/sandbox/events', { body: { type: 'webhook.test' } }));
  const { data: [taken] } = done('takeInboxRequests', await api.POST('/v1/partner/webhooks/{id}/take', { params: { path: { id: inbox.id } }, body: { waitSeconds: 20 } }));
  const item = { id: taken?.id ?? '' };
  done('answerInboxRequest', await api.POST('/v1/partner/inbox/{id}/answer', { params: { path: item }, body: { httpStatus: 200, response: 'ok' } }));
  done('listInboxRequests', await api.GET('/v1/partner/webhooks/{id}/requests', { params: { path: { id: inbox.id } } }));
  const removed = done('deleteWebhook', await api.DELETE('/v1/partner/webhooks/{id}', { params: { path } }));
  removed.deleted satisfies boolean;
  const who = done('whoami', await api.GET('/v1/partner/whoami'));
  who.mode satisfies 'live' | 'test';

  const { error } = await api.GET('/v1/partner/users/{kid}', { params: { path: { kid: 'nobody' } } });
  if (error?.code !== 'not_found') throw new Error('an error has its code');
  return statuses;
}
`;

/** Calls that must not compile, each on its own line. */
const wrongCalls = {
  'amounts are strings': `api.POST('/v1/partner/payments', { body: { amount: 125, currency: 'HTG', recipient: { kid: 'K' } } });`,
  'a recipient is needed': `api.POST('/v1/partner/payments', { body: { amount: '1.00', currency: 'HTG' } });`,
  'there is no such type of event': `api.POST('/v1/partner/webhooks', { body: { url: '', events: ['nope'], secret: '' } });`,
  'a limit is a number': `api.GET('/v1/partner/payments', { params: { query: { limit: '10' } } });`,
  'there is no such address': `api.GET('/v1/partner/nothing');`,
};

const wrongProgram = [
  `import createClient from 'openapi-fetch'; import type { paths } from './partner-api.js';`,
  'const api = createClient<paths>();',
  ...Object.values(wrongCalls),
].join('\n');

/** Returns the names of the calls that the compiler refuses, and any other compiler error unchanged. */
function refused(said: string): readonly string[] {
  const names = ['', '', '', ...Object.keys(wrongCalls)];
  // Indented lines continue the message above them.
  const errors = said.split('\n').filter((line) => line !== '' && !line.startsWith(' '));
  return [...new Set(errors.map((line) => names[Number(/\bwrong\.ts\((\d+),/.exec(line)?.[1])] ?? line))];
}

const settings = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'dom'],
    module: 'nodenext',
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noUnusedLocals: true,
    // Only declaration files are skipped: the generated file is not one, so it is checked.
    skipLibCheck: true,
    outDir: 'built',
  },
  include: ['*.ts'],
};

/**
 * Generates types for the OpenAPI document, compiles the programs with these types, and returns the
 * compiler's output.
 */
async function compile(folder: string, document: string): Promise<string> {
  writeFileSync(join(folder, 'partner-api.ts'), astToString(await openapiTS(document)));
  writeFileSync(join(folder, 'program.ts'), program);
  writeFileSync(join(folder, 'wrong.ts'), wrongProgram);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const run = promisify(execFile)(process.execPath, [compilers[7], '-p', folder]);
  const said = await run.catch((error: unknown) => error as { readonly stdout: string });
  return said.stdout;
}

type Program = {
  readonly callEverything: (...args: readonly string[]) => Promise<Record<string, number>>;
};

async function run(folder: string, { baseUrl, apiKey, hook, day }: Subject): Promise<Record<string, number>> {
  const { callEverything } = (await import(pathToFileURL(join(folder, 'built/program.js')).href)) as Program;
  return callEverything(baseUrl, apiKey, hook, day);
}

it('openapi-typescript makes types of the description, with which every operation is called', async () => {
  const of = await subject();
  const folder = generatedFolder('openapi-typescript');
  expect(refused(await compile(folder, of.document))).toEqual(Object.keys(wrongCalls));
  // One operation waits for a delivery.
  const delivering = setInterval(() => void of.deliver(), 100);
  const statuses = await run(folder, of).finally(() => clearInterval(delivering));
  expect(Object.keys(statuses).sort()).toEqual(of.operations.toSorted());
  for (const [operation, status] of Object.entries(statuses))
    expect([operation, status < 300]).toEqual([operation, true]);
});
