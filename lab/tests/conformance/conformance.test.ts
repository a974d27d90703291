import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { basicOp, conformancePage, fapi, plans } from './plans.ts';
import { startSuite } from './support/suite.ts';

const page = join(resolve(import.meta.dirname, '../../..'), 'docs/conformance.md');

const suite = await startSuite();
const localSuite = await startSuite({ webhooks: { allowPrivateTargets: true } });

describe.each(plans)('$title', (plan) => {
  for (const module of plan.modules) {
    it(module.name, async ({ skip }) => {
      if (!('skip' in module)) return void (await module.run(plan.isLocal ? localSuite : suite));
      expect(module.holds(suite), 'the reason for skipping the module is gone').toBe(true);
      skip(module.skip);
    });
  }
});

it('Basic OP has 38 modules, of which those are skipped that need self-registration', () => {
  const names = basicOp.modules.map(({ name }) => name);
  expect(new Set(names).size).toBe(38);
  const skipped = basicOp.modules.filter((module) => 'skip' in module).map(({ name }) => name);
  expect(skipped).toEqual([
    'oidcc-idtoken-signature',
    'oidcc-idtoken-unsigned',
    'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported',
  ]);
});

it('the FAPI 2.0 Security Profile has 56 modules, of which one needs an option that is off', () => {
  const names = fapi.modules.map(({ name }) => name);
  expect(new Set(names).size).toBe(56);
  const skipped = fapi.modules.filter((module) => 'skip' in module).map(({ name }) => name);
  expect(skipped).toEqual(['fapi2-security-profile-final-test-claims-parameter-identity-claims']);
});

it('the page of the documentation lists the same', async () => {
  await expect(conformancePage()).toMatchFileSnapshot(page);
});
