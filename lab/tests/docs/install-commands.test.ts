import { describe, expect, it } from 'vitest';
import { pagesThatInstall } from '../../../scripts/install-commands.ts';
import { textOf } from './support/pages.ts';

describe('what pages say about installing', () => {
  it('is what the switch says', () => {
    expect(pagesThatInstall().size).toBeGreaterThan(8);
    for (const [page, text] of pagesThatInstall()) expect(textOf(page), page).toBe(text);
  });

  it('is on every page a command for the registry after the release, and for a checkout before', () => {
    const [before, after] = [pagesThatInstall(false), pagesThatInstall(true)];
    expect([...after.keys()]).toEqual([...before.keys()]);
    for (const [page, text] of before) {
      expect(text, page).toContain('npm run pack');
      expect(text, page).not.toMatch(/^npm install .*@ostiary/m);
      expect(after.get(page), page).toMatch(/^npm install (?:--save-dev )?@ostiary\//m);
      expect(after.get(page), page).not.toMatch(/npm run pack|no release yet/);
    }
  });

  it('names every package of ours that another one needs', () => {
    const commands = pagesThatInstall(false).get('packages/adapter-postgres/README.md') ?? '';
    expect(commands.match(/ostiary-[\w-]+\.tgz/g)?.toSorted()).toEqual(
      ['adapter-postgres', 'core', 'webhook-verifier'].map((name) => `ostiary-${name}.tgz`),
    );
  });
});
