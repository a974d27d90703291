import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCatalogue } from '../../src/events.ts';
import { partnerErrors } from '../../src/index.ts';
import type { PartnerRoute } from '../../src/partner/request.ts';
import { partnerRoutes } from '../../src/partner/routes.ts';
import { type Description, descriptionOf, operationsOf } from '../support/openapi.ts';
import { TestRail } from '../support/partner-api.ts';
import { TestProvider } from '../support/provider.ts';
import { statuses } from './refusal.ts';

let provider: TestProvider;
let description: Record<string, unknown>;
let followed: Description;

beforeAll(async () => {
  provider = await TestProvider.start({ payments: new TestRail() });
  description = (await provider.request('/v1/openapi.json')).json();
  followed = await descriptionOf(provider);
});
afterAll(() => provider.stop());

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
});
