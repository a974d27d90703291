import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { keyScopes } from '@ostiary/core/admin';
import { afterAll, expect, it } from 'vitest';
import { z } from 'zod';
import { startTlsProxy } from '../../../examples/mounts/test/support/tls-proxy.ts';
import type { Installation } from '../../../examples/reference-server/src/installation.ts';
import { anaika, environment, jean, start } from '../../../examples/reference-server/test/support/server.ts';
import { keycloakClientOf, realm } from '../../../packages/cli/test/import/samples.ts';
import { png } from '../../../packages/core/test/support/png.ts';
import { certificate } from '../../../packages/core/test/webhooks/support/target-certificate.ts';
import { runHere } from '../../support/processes/run-here.ts';
import { root } from './support/pages.ts';
import { commandsOf } from './support/shell.ts';

const program = join(root, 'examples/reference-server/src/cli/main.ts');

const identified = z.object({ id: z.string() });
const listed = z.object({ data: z.array(identified) });

/** The example at the end of a help page. */
const exampleOf = (page: string): string | undefined => /\nExample:\n {2}(.+)\n$/.exec(page)?.[1];

/** Lines of a help page that stand below a heading. */
const below = (page: string, heading: string): string[] =>
  (page.split(`\n${heading}:\n`)[1]?.split('\n\n')[0] ?? '').split('\n');

/** Names of the commands in a list of them: the first words of the lines that are not continued ones. */
const namesIn = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => /^ {2}([a-z][\w-]*)/.exec(line)?.[1] ?? []);

/** Every command of the reference server with the page that its `--help` prints, as a stranger finds them. */
async function helpPages(): Promise<ReadonlyMap<string, string>> {
  const helpOf = async (...words: string[]) => (await runHere(program, ['help', ...words], {})).output;
  const pages = new Map<string, string>();
  for (const noun of namesIn(below(await helpOf(), 'Commands'))) {
    const page = await helpOf(noun);
    const verbs = namesIn(below(page, 'Commands'));
    for (const verb of verbs) pages.set(`${noun} ${verb}`, await helpOf(noun, verb));
    if (verbs.length === 0) pages.set(noun, page);
  }
  return pages;
}

/** A partner with a key, an endpoint and an event; answers their ids. */
async function partnerOf({ ostiary, ledger }: Installation, origin: string, kid: string) {
  await ostiary.admin.partners.create({ slug: 'kafe', name: 'Kafe Lakay' });
  await ledger.fund('kafe', '1250.00', 'HTG');
  const { key, apiKey } = await ostiary.admin.apiKeys.issue({
    partner: 'kafe',
    mode: 'live',
    scopes: [...keyScopes],
  });
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${origin}/v1/partner${path}`, {
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json', 'Idempotency-Key': path },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  const hook = { url: 'https://127.0.0.1:9/', events: ['*'], secret: 'a secret of the tests' };
  const endpoint = identified.parse(await ask('/webhooks', hook));
  await ask('/payments', { amount: '1.00', currency: 'HTG', recipient: { kid } });
  const firstEvent = async () => listed.parse(await ask('/events')).data[0]?.id;
  await expect.poll(firstEvent).toBeDefined();
  return { key_: apiKey.id, we_: endpoint.id, evt_: (await firstEvent()) ?? '' };
}

/** Starts a server on a new database that has what the examples name, except for what one of them creates. */
async function installationFor([noun, verb]: readonly string[]) {
  const env = await environment({ OSTIARY_WEBHOOK_PRIVATE_TARGETS: 'on' });
  const server = await start(env);
  const { installation } = server;
  const origin = `http://localhost:${server.port}`;
  const creates = verb === 'create' ? noun : undefined;
  const { kid, sub } = await installation.accounts.create({ ...anaika, ...(creates === 'users' && jean) });
  if (creates !== 'clients')
    await installation.ostiary.admin.clients.create({
      clientId: 'kafe',
      name: 'Kafe Lakay',
      redirectUris: ['https://kafe.example/callback'],
      allowedScopes: ['openid'],
    });
  const ofPartner = creates === 'partners' ? {} : await partnerOf(installation, origin, kid);
  // A move wants the file for itself.
  if (noun === 'move') await server.close();
  return { env, ids: { usr_: sub, ...ofPartner } };
}

/** An example with the ids, the files and the https server of a test in place of those of a reader. */
function asHere(example: string, ids: Readonly<Record<string, string>>, folder: string): string[] {
  const [{ words = [] } = {}] = commandsOf(example);
  // What is behind `>` is for the shell of a reader.
  const typed = words.includes('>') ? words.slice(0, words.indexOf('>')) : words;
  return typed.slice(1).map((word) => {
    const id = Object.entries(ids).find(([prefix]) => new RegExp(`^${prefix}[0-9a-f]{16}$`).test(word));
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
    // `tail` goes on until Ctrl-C.
    if (/^ {2}--once /m.test(page)) args.push('--once');
    const { code, output, errors } = await runHere(program, args, env, 'a password of the tests\n');
    // The doctor ends with 1, because a server of a test is not deployed as one should be.
    const expected =
      name === 'doctor'
        ? { code: 1, said: expect.stringMatching(/^ok +egress .*1 of 1 hosts can be reached/m) }
        : { code: 0, said: expect.stringMatching(/./) };
    expect({ code, said: output + errors }).toEqual(expected);
  },
);
