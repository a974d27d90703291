import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Module } from './modules/module.ts';
import { basicOp, configOp } from './plans.ts';
import { conformancePage, expectedResult, printedTable, type Result } from './report.ts';
import { type Suite, startSuite } from './support/suite.ts';

const page = join(resolve(import.meta.dirname, '../../..'), 'docs/conformance.md');
const plans = [configOp, basicOp];

let suite: Suite;
beforeAll(async () => {
  suite = await startSuite();
});
afterAll(async () => {
  await suite.deployment.stop();
});

describe.each(plans)('$title', (plan) => {
  const results = new Map<Module, Result>();
  afterAll(() => {
    console.log(printedTable(plan, (module) => results.get(module) ?? 'FAIL'));
  });

  for (const module of plan.modules) {
    it(module.name, async ({ skip }) => {
      if ('skip' in module) {
        expect(module.holds(suite), 'the reason for skipping the module is gone').toBe(true);
      } else {
        await module.run(suite);
      }
      results.set(module, expectedResult(module));
      if ('skip' in module) skip(module.skip);
    });
  }
});

it('Basic OP has 38 modules, of which those are skipped that need self-registration or other scopes', () => {
  const names = basicOp.modules.map(({ name }) => name);
  expect(new Set(names).size).toBe(38);
  const skipped = basicOp.modules.filter((module) => 'skip' in module).map(({ name }) => name);
  expect(skipped).toEqual([
    'oidcc-idtoken-signature',
    'oidcc-idtoken-unsigned',
    'oidcc-scope-email',
    'oidcc-scope-address',
    'oidcc-scope-phone',
    'oidcc-scope-all',
    'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported',
  ]);
});

it('the page of the documentation lists the same', async () => {
  await expect(conformancePage(plans)).toMatchFileSnapshot(page);
});
