import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { programOf } from '../../support/program.ts';

const root = resolve(import.meta.dirname, '../../..');
const unitTests = join(import.meta.dirname, 'alerts.promtool.yml');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const promtool = programOf('promtool');

interface Rule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: {
    readonly summary: string;
    readonly description: string;
    readonly runbook_url: string;
  };
}
const { groups }: { readonly groups: readonly { readonly rules: readonly Rule[] }[] } = parse(
  read('deploy/alerts.yml'),
);
const rules = groups.flatMap((group) => group.rules);
/** Address of the page with a section for each alert. */
const page = 'https://github.com/ostiary/ostiary/blob/main/docs/alerts.md';

describe('alerts', () => {
  it('have a section each in the documentation, with what they mean and what to do first', () => {
    const [, ...sections] = read('docs/alerts.md').split(/^## /m);
    const documented = new Map(
      sections.map((section) => {
        const [name = '', ...lines] = section.split('\n');
        return [name, lines.join('\n')];
      }),
    );
    expect([...documented.keys()]).toEqual(rules.map(({ alert }) => alert));
    for (const { alert, labels, annotations } of rules) {
      expect(['page', 'ticket']).toContain(labels.severity);
      expect(annotations.summary, alert).toMatch(/\.$/);
      expect(annotations.description, alert).toMatch(/\.$/);
      expect(annotations.runbook_url).toBe(`${page}#${alert.toLowerCase()}`);
      expect(documented.get(alert)).toMatch(/^\n\*\*Means:\*\* .+\.\n\n\*\*First:\*\* .+\.\n/);
    }
  });

  it('are loaded by the Prometheus of the compose file', () => {
    expect(parse(read('deploy/prometheus.yml')).rule_files).toEqual(['alerts.yml']);
    expect(read('deploy/compose.yaml')).toContain('- ./alerts.yml:/etc/prometheus/alerts.yml:ro');
  });

  it('each fire once in the unit tests', () => {
    const tests = readFileSync(unitTests, 'utf8');
    expect(rules.filter(({ alert }) => !tests.includes(`alertname="${alert}"`))).toEqual([]);
  });

  it.skipIf(promtool === undefined)('pass the unit tests of promtool', () => {
    for (const args of [
      ['check', 'config', join(root, 'deploy/prometheus.yml')],
      ['test', 'rules', unitTests],
    ]) {
      const { status, stdout, stderr } = spawnSync(promtool ?? '', args, { encoding: 'utf8' });
      expect([status, stderr], stdout).toEqual([0, '']);
    }
  });
});
