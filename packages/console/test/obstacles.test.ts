import { expect, it } from 'vitest';
import { act, operatorsKit, submit } from './console-kit.ts';

const refused = { error: 'status', httpStatus: 500, response: 'oops' } as const;

/** Starts a provider with a partner, and functions that read why its test webhooks do not arrive. */
async function shop() {
  const kit = await operatorsKit();
  const key = await kit.key();
  const operator = kit.browser('ana');
  const partner = await kit.signedIn(key);
  const sentences = (text: string) => {
    const [, inner = ''] = /<div class="(?:notice bad across|across muted)">(.*?)<\/div>/s.exec(text) ?? [];
    return [...inner.matchAll(/<p>(.*?)<\/p>/g)].map(([, sentence = '']) => sentence.replace(/<[^>]*>/g, ''));
  };
  const page = `/partners/${key.partner}`;
  return {
    ...{ kit, key, operator, partner, page },
    /** Reasons that the operators' page of the partner shows. */
    why: async (query = '?mode=test') => sentences((await operator.get(`/operators${page}${query}`)).text),
    /** Reasons that the partner's own page shows. */
    told: async () => sentences((await partner.get('/sandbox')).text),
  };
}

it('says that a partner has no endpoint, and how many events went nowhere', async () => {
  const { kit, key, why, told } = await shop();
  expect(await why()).toEqual(['No webhooks are sent, because no endpoint is registered.']);
  await kit.event(key);
  expect(await why()).toEqual([
    'No webhooks are sent, because no endpoint is registered. Events of the last day that went nowhere, among the newest 1,000: 1.',
  ]);
  expect(await why('')).toEqual(['No webhooks are sent, because no endpoint is registered.']);
  expect(await told()).toEqual([]);
});

it('names the event types that match no endpoint, and counts their events of a day', async () => {
  const { kit, key, why, told } = await shop();
  await kit.endpoint(key, '/hook', ['kyc.updated']);
  expect(await why()).toEqual([]);
  for (let count = 0; count < 25; count += 1) await kit.event(key);
  const sentence =
    'Events of the last day that matched no endpoint, among the newest 1,000: 25 (webhook.test).';
  for (const read of [why, told]) expect(await read()).toEqual([sentence]);
  await kit.endpoint(key, '/all');
  for (const read of [why, told]) expect(await read()).toEqual([]);
});

it('says who disabled an endpoint or the partner, and when, to operators only', async () => {
  const { kit, key, operator, partner, page, why, told } = await shop();
  const endpoint = await kit.endpoint(key);
  const path = `${page}/webhooks/${endpoint}?mode=test`;
  await submit(operator, path, { act: 'disable' });
  expect(await why()).toEqual([
    expect.stringMatching(/^ana disabled https:\/\/receiver\.example\/hook .* UTC\.$/),
  ]);
  const changed = expect.stringMatching(
    /^https:\/\/receiver\.example\/hook is disabled\. Its last change was/,
  );
  expect(await told()).toEqual([changed]);
  await submit(operator, path, { act: 'enable' });
  expect(await why()).toEqual([]);
  kit.provider.clock.advance(10_000);
  await act(partner, `/sandbox/endpoints/${endpoint}`, { action: 'disable' });
  expect(await why()).toEqual([changed]);

  await submit(operator, page, { act: 'disable' });
  const sentence = expect.stringMatching(/^No webhooks are sent: ana disabled the partner .* UTC\.$/);
  expect(await why()).toEqual([sentence]);
  expect(await kit.admin.webhooks.obstacles({ partner: key.partner, mode: 'live' })).toMatchObject([
    { reason: 'partner_disabled', by: 'ana' },
  ]);
});

it('says since when an endpoint fails, its last answer, and the next attempt', async () => {
  const { kit, key, why, told } = await shop();
  await kit.endpoint(key);
  await kit.event(key);
  await kit.attempt(refused);
  const sentence =
    /^https:\/\/receiver\.example\/hook fails since .* UTC: The server failed while it handled the event\. HTTP 500\. Next attempt .* UTC\.$/;
  for (const read of [why, told]) expect(await read()).toEqual([expect.stringMatching(sentence)]);
  kit.provider.clock.advance(60_000);
  await kit.attempt(refused, 'dropped');
  expect(await why()).toEqual([expect.stringContaining('No further attempt is planned.')]);
  kit.provider.clock.advance(24 * 3_600_000 + 1);
  expect(await why()).toEqual([]);
});

it('says that no worker takes what has been due for more than a minute', async () => {
  const { kit, key, why, told } = await shop();
  await kit.endpoint(key);
  await kit.event(key);
  kit.provider.clock.advance(60_000);
  expect(await why()).toEqual([]);
  kit.provider.clock.advance(1_000);
  for (const read of [why, told])
    expect(await read()).toEqual([
      expect.stringMatching(/^No worker takes deliveries: the oldest has been due/),
    ]);
  await kit.attempt({});
  for (const read of [why, told]) expect(await read()).toEqual([]);
});

it('knows nothing of other partners', async () => {
  const { kit, key, why } = await shop();
  await kit.endpoint(key);
  const other = await kit.key();
  await kit.endpoint(other);
  await kit.event(other);
  await kit.attempt(refused);
  expect(await why()).toEqual([]);
  await expect(kit.admin.webhooks.obstacles({ partner: 'nobody', mode: 'test' })).rejects.toThrow('nobody');
});

it('says that API calls are refused once all keys of the mode are revoked or expired', async () => {
  const { kit, key, operator, page } = await shop();
  const notice = async (query: string) =>
    /All (?:live|test) keys of this partner are revoked or expired/.exec(
      (await operator.get(`/operators${page}${query}`)).text,
    )?.[0] ?? null;
  const ended = 'All test keys of this partner are revoked or expired';
  // The partner never had a live key, so none has ended.
  expect([await notice('?mode=test'), await notice('')]).toEqual([null, null]);
  const other = await kit.provider.key({
    partner: key.partner,
    mode: 'test',
    expiresAt: new Date(kit.provider.clock.now() + 60_000),
  });
  await kit.admin.apiKeys.revoke(key.id);
  expect(await notice('?mode=test')).toBeNull();
  kit.provider.clock.advance(60_000);
  expect(await notice('?mode=test')).toBe(ended);
  expect(await notice('')).toBeNull();
  await kit.admin.apiKeys.revoke(other.id);
  expect(await notice('?mode=test')).toBe(ended);
  const last = await kit.provider.key({ partner: key.partner, mode: 'test' });
  expect(await notice('?mode=test')).toBeNull();
  // The page of a disabled partner says that its calls are refused for that reason.
  await kit.admin.apiKeys.revoke(last.id);
  await kit.admin.partners.disable(key.partner);
  expect(await notice('?mode=test')).toBeNull();
});
