import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCatalogue } from '../../src/events.ts';
import { type PartnerErrorCode, partnerErrors } from '../../src/index.ts';
import type { PartnerRoute } from '../../src/partner/request.ts';
import { partnerRoutes } from '../../src/partner/routes.ts';
import type { Answer } from '../support/browser.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { type Description, descriptionOf, operationsOf } from '../support/openapi.ts';
import { payment, TestRail } from '../support/partner-api.ts';
import { type TestKey, TestProvider } from '../support/provider.ts';

const database = fragileStorage();
let provider: TestProvider;
let key: TestKey;
let description: Record<string, unknown>;
let followed: Description;

beforeAll(async () => {
  provider = await TestProvider.start({
    storage: database.storage,
    payments: new TestRail(),
    partnerLimits: { reconciliation: { requests: 1, windowSeconds: 60 } },
  });
  key = await provider.key();
  description = (await provider.request('/v1/openapi.json')).json();
  followed = await descriptionOf(provider);
});
afterAll(() => provider.stop());

const pay = 'POST /v1/partner/payments';

/** A real request for each row. A row that is added without one does not compile, one that is wrong fails. */
const requests: { readonly [Code in PartnerErrorCode]: () => Promise<Answer> } = {
  invalid_request: () => provider.partnerCall(key, pay, {}),
  invalid_api_key: () => provider.partnerCall('svc_live_x', pay, payment),
  invalid_signature: () => provider.partnerCall(key, pay, payment, { 'x-svc-signature': 'x' }),
  insufficient_scope: async () =>
    provider.partnerCall(await provider.key({ scopes: ['webhooks'] }), pay, payment),
  ip_not_allowed: async () =>
    provider.partnerCall(await provider.key({ allowlist: ['192.0.2.1'] }), pay, payment),
  not_found: () => provider.partnerCall(key, 'GET /v1/partner/users/nobody'),
  async idempotency_conflict() {
    await provider.partnerCall(key, pay, payment, { 'idempotency-key': 'k' });
    return provider.partnerCall(key, pay, { ...payment, amount: '1.00' }, { 'idempotency-key': 'k' });
  },
  async token_expired() {
    const { token } = await provider.ostiary.passports.issue('user-ana');
    provider.clock.advance(300_001);
    return provider.partnerCall(key, 'POST /v1/partner/verify', { token });
  },
  async rate_limit_exceeded() {
    await provider.partnerCall(key, 'GET /v1/partner/reconciliation?date=2024-01-01');
    return provider.partnerCall(key, 'GET /v1/partner/reconciliation?date=2024-01-01');
  },
  async internal_error() {
    provider.host.people.set('broken', { sub: 'broken', kid: 'KID-BROKEN' });
    return provider.partnerCall(key, 'GET /v1/partner/users/KID-BROKEN');
  },
};

/** The statuses of the contract, written down a second time. */
const statuses: { readonly [Code in PartnerErrorCode]: number } = {
  invalid_request: 400,
  invalid_api_key: 401,
  invalid_signature: 401,
  insufficient_scope: 403,
  ip_not_allowed: 403,
  not_found: 404,
  idempotency_conflict: 409,
  token_expired: 422,
  rate_limit_exceeded: 429,
  internal_error: 500,
};

/** The table, as the provider has it. */
function table(): PartnerRoute[] {
  const never: unknown = new Proxy(() => {}, { get: () => never, apply: () => never });
  const webhooks = { catalogue: createCatalogue({}) };
  return partnerRoutes({
    core: never,
    passports: never,
    users: never,
    webhooks,
  } as never);
}

const operations = () =>
  operationsOf(followed).map(({ method, path, operation }) => ({ name: `${method} ${path}`, operation }));

const page = (name: string) =>
  readFileSync(new URL(`../../../../docs/reference/${name}`, import.meta.url), 'utf8');

describe('the errors of the partner API', () => {
  it.each(Object.keys(requests) as PartnerErrorCode[])('%s is produced by a real request', async (code) => {
    const answer = await requests[code]();
    expect([answer.status, answer.json().code]).toEqual([statuses[code], code]);
    expect(answer.json().requestId).toBe(answer.headers.get('x-request-id'));
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(typeof answer.json().message).toBe('string');
  });

  it('are all in the table, and on the page', () => {
    expect(
      Object.fromEntries(Object.entries(partnerErrors).map(([code, { status }]) => [code, status])),
    ).toEqual(statuses);
    const rows = Array.from(
      page('partner-errors.md').matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm),
      ([, code, status]) => [code, Number(status)],
    );
    expect(Object.fromEntries(rows)).toEqual(statuses);
  });
});

describe('the description of the partner API', () => {
  it('is valid OpenAPI 3.1, says a validator that we did not write', async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(description));
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
    expect(validator.version).toBe('3.1');
    // The validator does look: it notices what is missing.
    expect((await new Validator().validate({ ...structuredClone(description), info: {} })).valid).toBe(false);
  });

  it('has every reference that it uses', () => {
    const components = description.components as Record<string, object>;
    const used = Array.from(
      JSON.stringify(description).matchAll(/"\$ref":"#\/components\/(\w+\/\w+)"/g),
      ([, name = '']) => name,
    );
    const { securitySchemes: _, ...shared } = components;
    const there = Object.entries(shared).flatMap(([kind, parts]) =>
      Object.keys(parts).map((name) => `${kind}/${name}`),
    );
    expect([...new Set(used)].sort()).toEqual(there.sort());
    expect(JSON.stringify(description)).not.toContain('$defs');
  });

  it('is the route table: paths, operations, scopes, limits, bodies, parameters', () => {
    const shown = operations().map(({ name, operation }) => ({
      name,
      operation: operation.operationId,
      scope: operation['x-scope'] ?? null,
      limit: operation['x-limit-group'],
      body: operation.requestBody !== undefined,
      idempotent: operation.parameters.some((parameter) => parameter.name === 'Idempotency-Key'),
      path: operation.parameters
        .filter((parameter) => parameter.in === 'path')
        .map((parameter) => `:${parameter.name}`),
    }));
    expect(shown).toEqual(
      table()
        .toSorted(
          (a, b) =>
            shown.findIndex(({ operation }) => operation === a.operation) -
            shown.findIndex(({ operation }) => operation === b.operation),
        )
        .map((route) => ({
          name: `${route.method} ${route.path.replace(/:(\w+)/g, '{$1}')}`,
          operation: route.operation,
          scope: route.scope,
          limit: route.limit,
          body: route.body !== undefined,
          idempotent: route.idempotent,
          path: route.path.match(/:\w+/g) ?? [],
        })),
    );
    expect(new Set(shown.map(({ operation }) => operation)).size).toBe(shown.length);
  });

  it('names every error code, each with its status, and none that is not in the table', () => {
    const named = new Set(
      operations().flatMap(({ operation }) =>
        Object.entries(operation.responses).flatMap(([status, { content }]) =>
          Number(status) < 400
            ? []
            : Object.keys(content?.['application/json']?.examples ?? {}).map((code) => `${status} ${code}`),
        ),
      ),
    );
    const extra = ['408 invalid_request', '413 invalid_request', '415 invalid_request', '503 internal_error'];
    expect([...named].sort()).toEqual(
      [...Object.entries(statuses).map(([code, status]) => `${status} ${code}`), ...extra].sort(),
    );
  });

  it('is the same as the page of the endpoints', () => {
    const rows = Array.from(
      page('partner-endpoints.md').matchAll(/^\| (\w+) \| `([^`]+)` \| ([^|]+) \| (\w+) \| (yes|no) \|/gm),
      (cells) => cells.slice(1, 6).map((cell) => cell.replaceAll('`', '').trim()),
    );
    expect(rows).toEqual(
      table().map((route) => [
        route.method,
        route.path.replace(/:(\w+)/g, '{$1}'),
        route.scope ?? 'any key',
        route.limit,
        route.idempotent ? 'yes' : 'no',
      ]),
    );
  });

  it.each(table().map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s is guarded: key, then scope',
    async (_name, route) => {
      const mode = route.testOnly === true ? 'test' : 'live';
      const target = `${route.method} ${route.path.replace(/:\w+/g, 'x')}`;
      expect((await provider.partnerCall(null, target)).json().code).toBe('invalid_api_key');
      const others = (
        [
          'identity:verify',
          'payments:write',
          'payments:read',
          'users:read',
          'webhooks',
          'reconciliation:read',
        ] as const
      ).filter((scope) => scope !== route.scope);
      const powerless = await provider.key({ mode, scopes: others });
      const refusal = (await provider.partnerCall(powerless, target)).json();
      if (route.scope === null) expect(refusal).not.toHaveProperty('code');
      else expect(refusal.code).toBe('insufficient_scope');
      const able = await provider.key({ mode, scopes: [route.scope ?? 'webhooks'] });
      expect([401, 403]).not.toContain((await provider.partnerCall(able, target)).status);
    },
  );
});
