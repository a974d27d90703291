import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TestRail } from '../../../packages/core/test/support/partner-api.ts';
import { type Json, TestProvider } from '../../../packages/core/test/support/provider.ts';

let source: string;

beforeAll(async () => {
  const provider = await TestProvider.start({
    // Use another name than `localhost` or `example.com`, because linters warn of these servers.
    authUrl: 'https://id.ostiary.test',
    payments: new TestRail(),
    events: { 'order.shipped': { schema: z.object({ orderId: z.string() }), example: { orderId: 'o-1' } } },
  });
  source = (await provider.request('/v1/openapi.json')).text;
  return () => provider.stop();
});

/** Returns the report of Redocly (an OpenAPI linter) with its recommended rules, warnings included. */
async function redocly(text: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

/** Returns the report of Spectral (an OpenAPI linter) with its recommended rules, hints included. */
async function spectral(text: string): Promise<string[]> {
  const linter = new spectralCore.Spectral();
  // Cast the rule set: Spectral's type requires that rules extend others.
  linter.setRuleset({ extends: [spectralRulesets.oas as RulesetDefinition] });
  const problems = await linter.run(JSON.parse(text) as Json);
  return problems.map(({ code, message, path }) => `${code}: ${path.join('.')}: ${message}`);
}

describe.each([
  ['Redocly', redocly],
  ['Spectral', spectral],
])('%s', (_name, lint) => {
  it('reports nothing', async () => {
    expect(await lint(source)).toEqual([]);
  });

  it('detects mistakes in a description', async () => {
    const { info: _, ...document } = JSON.parse(source) as Json & { paths: Record<string, Json> };
    const whoami = document.paths['/v1/partner/whoami'] as { get: Json };
    whoami.get = { ...whoami.get, parameters: [{ name: 'id', in: 'path', required: true }] };
    expect((await lint(JSON.stringify(document))).length).toBeGreaterThan(1);
  });
});
