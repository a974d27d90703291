import { expect, it } from 'vitest';
import { operatorsKit, submit } from './console-kit.ts';

const refused = { error: 'status', httpStatus: 500, response: 'oops' } as const;

it('shows a delivery that waits for its next attempt as failing, with its number and time', async () => {
  const kit = await operatorsKit();
  const key = await kit.key();
  const browser = await kit.signedIn(key);
  const endpoint = await kit.endpoint(key);
  const event = await kit.event(key);
  const pages = async () => {
    const paths = [`/sandbox/events/${event}`, `/sandbox/endpoints/${endpoint}`, '/sandbox'];
    return Promise.all(paths.map(async (path) => (await browser.get(path)).text));
  };
  for (const text of await pages()) expect(text).toContain('<span class="state pending">Queued</span>');
  await kit.attempt(refused);
  kit.provider.clock.advance(2_000);
  const [ofEvent = '', ofEndpoint = '', home = ''] = await pages();
  for (const text of [ofEvent, ofEndpoint])
    expect(text).toContain(
      '<span class="state failing">Failing · 1 of 5, next <span data-left="58000" data-plain>in 58 seconds</span></span>',
    );
  expect(home).toContain('<span class="state failing">Failing</span>');
  for (const text of [ofEvent, ofEndpoint, home]) expect(text).not.toContain('Queued<');
  expect((await browser.get('/sandbox?state=failing')).text).toContain(`id="${event}"`);
  expect((await browser.get(`/sandbox/endpoints/${endpoint}?status=failing`)).text).toContain(
    'class="delivery"',
  );

  const path = `/v1/partner/webhooks/${endpoint}/deliveries`;
  const listed = async (status: string) => {
    const answer = await kit.provider.partnerCall(key, `GET ${path}?status=${status}`);
    return answer.json().data as readonly { readonly status: string }[];
  };
  for (const status of ['failing', 'pending'])
    expect(await listed(status)).toMatchObject([{ status: 'pending', attempts: [{ number: 1 }] }]);
  kit.provider.clock.advance(60_000);
  await kit.attempt(refused, 'dropped');
  expect(await listed('failing')).toEqual([]);
  expect((await browser.get(`/sandbox/events/${event}`)).text).toContain('state dropped');
});

it('tells operators which endpoints fail now, with their last answer and since when', async () => {
  const kit = await operatorsKit();
  const operator = kit.browser('ana');
  const overview = async () => (await operator.get('/operators')).text;
  const key = await kit.key();
  const endpoint = await kit.endpoint(key);
  await kit.event(key);
  expect(await overview()).toContain('nothing needs you');
  const since = new Date(kit.provider.clock.now()).toISOString();
  await kit.attempt(refused);
  kit.provider.clock.advance(60_000);
  const last = new Date(kit.provider.clock.now()).toISOString();
  await kit.attempt({ error: 'timeout', httpStatus: null, response: null });
  const text = await overview();
  expect(text).not.toContain('nothing needs you');
  expect(text).toContain('Endpoints that fail now</dt><dd>1<');
  const [row = ''] = /<section class="panel" aria-labelledby="failing">.*?<\/section>/s.exec(text) ?? [];
  for (const part of [
    'receiver.example/hook',
    key.partner,
    `Failing since <time datetime="${since}">`,
    `Last failed attempt <time datetime="${last}">`,
    'No answer within 10 seconds. <code><bdi>timeout</bdi></code>',
    'Waiting: 1',
    `endpoint=${endpoint}&amp;status=failing`,
  ])
    expect.soft(row).toContain(part);
  expect(await kit.admin.health()).toMatchObject({
    failing: 1,
    failingEndpoints: [
      {
        ...{ endpointId: endpoint, partner: key.partner, mode: 'test', count: 1, since },
        lastAttempt: { at: last, httpStatus: null, error: 'timeout' },
      },
    ],
  });
  const deliveries = await operator.get(
    `/operators/partners/${key.partner}/webhooks?mode=test&status=failing`,
  );
  expect(deliveries.text).toContain('Failing · 2 of 5, next');
  kit.provider.clock.advance(60_000);
  await kit.attempt({});
  expect(await overview()).toContain('Endpoints that fail now</dt><dd>0<');
  expect(await kit.admin.health()).toMatchObject({ failing: 0, failingEndpoints: [] });

  await kit.event(key);
  await kit.attempt(refused);
  expect((await kit.admin.health()).failing).toBe(1);
  const path = `/partners/${key.partner}/webhooks/${endpoint}?mode=test`;
  expect((await submit(operator, path, { act: 'disable' })).status).toBe(303);
  expect((await kit.admin.health()).failing).toBe(0);
});
