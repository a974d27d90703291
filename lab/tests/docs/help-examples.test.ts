import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, expect, it } from 'vitest';
import { startTlsProxy } from '../../../examples/mounts/test/support/tls-proxy.ts';
import { keycloakClientOf, realm } from '../../../packages/cli/test/import/samples.ts';
import { png } from '../../../packages/core/test/support/png.ts';
import { certificate } from '../../../packages/core/test/webhooks/support/target-certificate.ts';
import { runHere } from '../../support/processes/run-here.ts';
import { helpPages, program } from './support/help.ts';
import { installationFor } from './support/installation.ts';
import { commandsOf } from './support/shell.ts';

/** Returns the example at the end of a command's help page. */
const exampleOf = (page: string): string | undefined => /\nExample:\n {2}(.+)\n$/.exec(page)?.[1];

/** Replaces ids, files and the https URL of a help example by values of the test. */
function asHere(example: string, ids: Readonly<Record<string, string>>, folder: string): string[] {
  const [{ words = [] } = {}] = commandsOf(example);
  // Without the text after `>`, which is for the reader's shell.
  const typed = words.includes('>') ? words.slice(0, words.indexOf('>')) : words;
  return typed.slice(1).map((word) => {
    const id = Object.entries(ids).find(
      ([prefix]) => prefix === word || new RegExp(`^${prefix}(?:[0-9a-f]{16}|[0-9a-f]{24})$`).test(word),
    );
    if (id !== undefined) return id[1];
    if (/\.(?:csv|json|png|sqlite)$/.test(word)) return join(folder, basename(word));
    return word.replace(/^https:\/\/example\.com$/, elsewhere.origin);
  });
}

const pages = await helpPages();

const trusted = getCACertificates();
const elsewhere = await startTlsProxy();
setDefaultCACertificates([...trusted, certificate]);
afterAll(() => {
  setDefaultCACertificates(trusted);
  return elsewhere.stop();
});

it('every command of the help has an example', () => {
  expect(pages.size).toBeGreaterThan(45);
  const without = Array.from(pages).filter(([, page]) => exampleOf(page) === undefined);
  expect(without).toEqual([]);
});

it.each(Array.from(pages, ([name, page]) => ({ name, page, example: exampleOf(page) ?? '' })))(
  '`$example` does on a real installation what it says',
  async ({ name, page, example }) => {
    const { env, ids } = await installationFor(name.split(' '));
    const folder = env.OSTIARY_DATA_DIR ?? '';
    writeFileSync(join(folder, 'logo.png'), png(64));
    writeFileSync(
      join(folder, 'realm.json'),
      JSON.stringify({ ...realm, clients: [keycloakClientOf('shop')] }),
    );
    const args = [...asHere(example, ids, folder), '--yes'];
    // `tail` runs until Ctrl-C.
    if (/^ {2}--once /m.test(page)) args.push('--once');
    const { code, output, errors } = await runHere(program, args, env, 'a password of the tests\n');
    // The doctor exits with 1, because the test's server is not deployed for production.
    const expected =
      name === 'doctor'
        ? { code: 1, said: expect.stringMatching(/^ok +egress .*1 of 1 hosts can be reached/m) }
        : { code: 0, said: expect.stringMatching(/./) };
    expect({ code, said: output + errors }).toEqual(expected);
  },
);
