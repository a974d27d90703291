import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSealer } from '../../core/src/keys/sealing.ts';
import { webhookSecretContext } from '../../core/src/keys/webhook-secrets.ts';
import { systemRandom } from '../../core/src/secrets/random.ts';
import { act, target, visited } from './console-kit.ts';

type Visited = Awaited<ReturnType<typeof visited>>;

const sealingKey = randomBytes(32);
const sealer = createSealer([sealingKey], systemRandom);
const options = { sealingKeys: [sealingKey], requestLog: 'all' } as const;

const generatedIn = (text: string): string[] => [...new Set(text.match(/whsec_[0-9a-f]{64}/g))];

/** Returns the secret with which an endpoint's deliveries are signed now. */
async function secretOf({ kit, key }: Visited, id: string): Promise<string> {
  const { webhooks } = kit.storage;
  const found = await webhooks.find({ partner: key.partner, mode: 'test' }, id);
  return found === null ? '' : sealer.open(found.sealedSecret, webhookSecretContext(id));
}

/** Returns in one text the pages about an endpoint with their headers, the request log, and all log lines. */
async function everything({ kit, key, browser }: Visited, id: string): Promise<string> {
  const paths = [
    '',
    '/endpoints',
    `/endpoints/${id}`,
    `/endpoints/${id}/edit`,
    `/endpoints/${id}/secret`,
    '/requests',
  ];
  const pages = await Promise.all(paths.map((path) => browser.get(`/sandbox${path}`)));
  const filter = { partner: key.partner, mode: 'test', failed: false, after: null, limit: 100 } as const;
  const requests = await kit.storage.requestLog.list(filter);
  const texts = pages.map(({ text, headers }) => text + JSON.stringify([...headers]));
  return [...texts, JSON.stringify(requests), JSON.stringify(kit.provider.logged)].join('\n');
}

describe('the secret of an endpoint', () => {
  it('is generated, shown in one response, and used once the partner confirms it', async () => {
    const visit = await visited(options);
    const { kit, key, browser } = visit;
    const id = await kit.endpoint(key);
    const old = await secretOf(visit, id);
    const path = `/sandbox/endpoints/${id}/secret`;
    const before = await browser.get(path);
    expect([before.status, generatedIn(before.text)]).toEqual([200, []]);
    for (const part of [
      'every attempt that begins more than a second after the change',
      'accept both secrets first',
    ])
      expect(before.text).toContain(part);
    const generate = async () =>
      browser.get(target(await act(browser, path, { step: 'generate' })) ?? 'no redirect');
    const shown = await generate();
    const [secret = '', ...others] = generatedIn(shown.text);
    expect([shown.status, others, shown.location]).toEqual([200, [], null]);
    expect(shown.headers.get('cache-control')).toBe('no-store');
    expect(shown.text).toContain('<button type="button" class="compact" data-copy=""');
    expect(JSON.stringify([...shown.headers])).not.toContain(secret);
    expect(await secretOf(visit, id)).toBe(old);
    // Submitting the form again generates another secret.
    expect(generatedIn((await generate()).text)).not.toContain(secret);

    const used = await act(browser, path, { step: 'use', secret });
    expect(target(used)).toBe(`/sandbox/endpoints/${id}?notice=secret_changed`);
    expect(await secretOf(visit, id)).toBe(secret);
    expect((await browser.get(used.location ?? '')).text).toContain(
      'The new secret signs every attempt that begins more than a second from now.',
    );
    expect(await everything(visit, id)).not.toContain(secret.slice(6, 40));
  });

  it('can be chosen by the partner, and is then never shown', async () => {
    const visit = await visited(options);
    const { kit, key, browser } = visit;
    const id = await kit.endpoint(key);
    const secret = ' 16 characters and a blank at each end ';
    const answer = await act(browser, `/sandbox/endpoints/${id}/secret`, { step: 'use', secret });
    expect(target(answer)).toBe(`/sandbox/endpoints/${id}?notice=secret_changed`);
    expect(await secretOf(visit, id)).toBe(secret);
    expect(await everything(visit, id)).not.toContain(secret.trim());
  });

  it('is not changed by a refused value, and is not shown again', async () => {
    const visit = await visited(options);
    const { kit, key, browser } = visit;
    const id = await kit.endpoint(key);
    const old = await secretOf(visit, id);
    for (const secret of ['', 'too-brief', 's'.repeat(257), 'undefined', 'null                 ']) {
      const { status, text } = await act(browser, `/sandbox/endpoints/${id}/secret`, { step: 'use', secret });
      expect.soft([secret, status]).toEqual([secret, 400]);
      expect.soft(text).toContain('The secret was not replaced.');
      if (secret.length > 4) expect.soft(text.includes(secret)).toBe(false);
    }
    expect(await secretOf(visit, id)).toBe(old);
  });

  it('is generated for a new endpoint if none was entered, and shown once', async () => {
    const visit = await visited(options);
    const { kit, key, browser } = visit;
    const form = { url: 'https://receiver.example/new', secret: '', 'type *': 'on' };
    const shown = await browser.get(target(await act(browser, '/sandbox/endpoints', form)) ?? 'no redirect');
    const [secret = '', ...others] = generatedIn(shown.text);
    expect([shown.status, others]).toEqual([200, []]);
    expect(shown.headers.get('cache-control')).toBe('no-store');
    expect(shown.text).toContain('The endpoint is registered.');
    const [endpoint] = await kit.storage.webhooks.list({ partner: key.partner, mode: 'test' });
    const id = endpoint?.id ?? '';
    expect(shown.text).toContain(`/sandbox/endpoints/${id}">`);
    expect(await secretOf(visit, id)).toBe(secret);
    // Sending the form again is refused, because an endpoint has the URL, and does not show the secret.
    const again = await act(browser, '/sandbox/endpoints', form);
    expect([again.status, generatedIn(again.text)]).toEqual([400, []]);
    expect(await everything(visit, id)).not.toContain(secret.slice(6, 40));
  });

  it('is not generated for an endpoint that is refused', async () => {
    const { browser } = await visited();
    const answer = await act(browser, '/sandbox/endpoints', { url: 'https://10.0.0.1/', 'type *': 'on' });
    expect([answer.status, generatedIn(answer.text)]).toEqual([400, []]);
  });
});
