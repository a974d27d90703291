import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { verifierSources } from '../../../packages/console/src/verifiers.built-in.ts';
import { verifierSource, verifiers } from '../../../packages/console/src/verifiers.ts';
import { secret, shop } from '../../../packages/core/test/partner/webhook-shop.ts';
import { type Received, sink } from '../../../packages/core/test/webhooks/support/sink.ts';
import { vectors } from '../../../packages/webhook-verifier/test/vectors/vectors.ts';
import { blocksOf, root, textOf } from '../../support/documentation.ts';
import { languages, NotHere, verdictsOf } from './verifiers/languages.ts';

const page = 'docs/webhook-verifier-languages.md';
const contract = vectors.filter(({ kind }) => kind === 'contract');

it('the verifiers of the documentation are one for each language, below six rules', () => {
  const text = textOf(page);
  const rules = text.slice(text.indexOf('## The six rules'), text.indexOf('## Python'));
  expect(Array.from(rules.matchAll(/^(\d)\. /gm), ([, number]) => number)).toEqual([...'123456']);
  for (const { name } of languages) expect(blocksOf(page, name.toLowerCase()), name).toHaveLength(1);
});

for (const language of languages) {
  it(`decide every vector of the contract in ${language.name}`, async ({ skip }) => {
    let verdicts: readonly string[];
    try {
      verdicts = await verdictsOf(language, page, contract);
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      // Vitest does not report the reason if a file passes.
      console.log(`The verifier in ${language.name} was not run: ${error.message}.`);
      return skip(error.message);
    }
    const decided = contract.map(({ name }, index) => [name, verdicts[index]]);
    const expected = contract.map(({ name, expected }) => [
      name,
      expected.valid ? `accepted ${expected.id}` : 'refused',
    ]);
    expect(decided).toEqual(expected);
  }, 120_000);
}

/**
 * JavaScript verifiers that the console shows. Verifiers in all other languages are on the documentation
 * page.
 */
const inJavaScript = ['express', 'nextjs', 'fastify', 'hono'] as const;

it('the verifiers that the console hands out are blocks of the documentation', () => {
  const blocks = languages.flatMap(({ name }) => blocksOf(page, name.toLowerCase()));
  const frameworks = blocksOf('docs/webhook-verifier.md', 'ts');
  const withoutEnd = (text: string): string => text.trimEnd();
  for (const [name, source] of Object.entries(verifierSources)) {
    const known = inJavaScript.some((one) => one === name) ? frameworks : blocks;
    expect(known.map(withoutEnd), name).toContain(withoutEnd(source));
  }
  for (const { calls } of Object.values(verifiers)) {
    for (const [framework, call] of calls) {
      const withSecret = call
        .replace(/os\.environ\[.*?\]|os\.Getenv\(.*?\)|ENV\.fetch\(.*?\)|System\.getenv\(.*?\)/, 'secret')
        .replace(/getenv\(.*?\)/, '$secret');
      const [documented = call] = /(?:Webhook\.)?(?:verify|Verify)[\w(].*$/m.exec(withSecret) ?? [];
      expect(textOf(page), framework).toContain(documented);
    }
  }
});

it('the verifiers that the console hands out have the prefix of the installation', () => {
  for (const name of Object.keys(verifierSources) as (keyof typeof verifierSources)[]) {
    const source = verifierSource(name, 'kafe');
    expect(source, name).toMatch(/X-KAFE-|X_KAFE_|prefix: 'kafe'/);
    expect(source, name).not.toMatch(/SVC/);
  }
});

/** Captures a webhook delivery of a service, as it arrives at a partner's server. */
async function realDelivery(prefix = 'svc'): Promise<{ readonly delivery: Received; readonly id: string }> {
  const { provider, register, trigger, work } = await shop({ prefix });
  const server = await sink(() => provider.clock.now());
  await register(server.url);
  const { id } = await trigger();
  await work();
  const [delivery] = server.received;
  if (delivery === undefined) throw new Error('nothing arrived');
  return { delivery, id: String(id) };
}

for (const language of languages) {
  it(`accepts a delivery of a real service in ${language.name}`, async ({ skip }) => {
    const { delivery, id } = await realDelivery();
    const headers = Object.fromEntries(
      Object.entries(delivery.headers).filter(([name]) => name.startsWith('x-svc-')),
    ) as Readonly<Record<string, string>>;
    const [example] = contract;
    if (example === undefined) throw new Error('there is no vector');
    const body = delivery.body.toString('base64');
    const now = Math.floor(delivery.at / 1000);
    const genuine = { ...example, secrets: [secret], now, body, headers };
    const forged = { ...genuine, secrets: ['another secret of 16 characters'] };
    try {
      const verdicts = await verdictsOf(language, page, [genuine, forged]);
      expect(verdicts).toEqual([`accepted ${id}`, 'refused']);
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      return skip(error.message);
    }
  }, 120_000);
}

/** Loads a JavaScript verifier as a module, with the verifier's app or route as export. */
async function loaded(name: (typeof inJavaScript)[number], prefix: string) {
  const file = join(root, `lab/node_modules/.cache/verifiers/${name}-${prefix}.mjs`);
  const source = verifierSource(name, prefix).replace('app.listen(3000);', '');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${source}\n${posting[name]}`);
  return await import(/* @vite-ignore */ `${pathToFileURL(file).href}?${Date.now()}`);
}

/**
 * Code lines that are added to each verifier, and export a function that passes a request to the verifier.
 */
const posting = {
  express: `
export const post = async (request) => {
  const server = app.listen(0);
  await new Promise((done) => server.once('listening', done));
  try {
    return await fetch('http://127.0.0.1:' + server.address().port + '/webhooks', request);
  } finally {
    server.close();
  }
};`,
  fastify: `
export const post = async ({ headers, body: payload }) => {
  const { statusCode: status } = await app.inject({ method: 'POST', url: '/webhooks', headers, payload });
  return { status };
};`,
  hono: "export const post = (request) => app.request('http://local/webhooks', request);",
  nextjs: "export const post = (request) => POST(new Request('http://local/webhooks', request));",
};

const everyPrefix = inJavaScript.flatMap((name) => ['svc', 'kafe'].map((prefix) => [name, prefix] as const));

it.each(everyPrefix)(
  'accepts a delivery of a real service with %s and the prefix %s',
  async (name, prefix) => {
    const { delivery } = await realDelivery(prefix);
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const fail = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const before = process.env.WEBHOOK_SECRET;
    onTestFinished(() => {
      log.mockRestore();
      fail.mockRestore();
      if (before === undefined) delete process.env.WEBHOOK_SECRET;
      else process.env.WEBHOOK_SECRET = before;
    });
    process.env.WEBHOOK_SECRET = secret;
    const { post } = await loaded(name, prefix);
    const sent = Object.entries(delivery.headers).filter(
      ([header]) => header.startsWith(`x-${prefix}-`) || header === 'content-type',
    );
    const headers = Object.fromEntries(sent) as Record<string, string>;
    const request = { method: 'POST', headers, body: delivery.body };
    expect((await post(request)).status).toBe(200);
    const forged = { ...headers, [`x-${prefix}-signature`]: '0'.repeat(64) };
    expect((await post({ ...request, headers: forged })).status).toBe(400);
  },
);
