import { expect, it } from 'vitest';
import { listOf, relativeTime } from '../src/lists.ts';
import { terminal } from './support.ts';

const now = Date.parse('2030-01-31T12:00:00.000Z');

/** Makes a function that runs commands, with a partner and one test payment of it. */
async function withPayment() {
  const made = await terminal();
  const { provider } = made;
  const key = await provider.key({ mode: 'test' });
  const body = {
    amount: '12.00',
    currency: 'HTG',
    recipient: { kid: 'KID-TEST-APPROVED' },
    reference: 'r 1',
  };
  const paid = (await provider.partnerCall(key, 'POST /v1/partner/payments', body)).json();
  await provider.ostiary.worker.runDue();
  return { ...made, key, id: String(paid.id) };
}

it('payments are listed, filtered and shown with their event, and an unknown one is not found', async () => {
  const { run, key, id } = await withPayment();
  const list = await run(`payments list ${key.partner} --mode test`);
  expect(list.out).toMatch(new RegExp(`${id} +completed +12.00 HTG +KID-TEST-APPROVED +r 1`));
  expect((await run(`payments list ${key.partner} --mode test --status failed`)).out).toBe(
    'No test payments that fit.\n',
  );
  const shown = await run(`payments get ${key.partner} ${id} --mode test`);
  expect(shown.out).toMatch(/event +evt_\w+ \(payment.completed\)/);
  const missing = await run(`payments show ${key.partner} tr_none`);
  expect(missing).toMatchObject({ code: 3, err: expect.stringContaining('payments list <partner>') });
});

it('an empty list says where there is something', async () => {
  const { run, key } = await withPayment();
  expect((await run(`payments list ${key.partner}`)).out).toBe('No live payments. 1 in test: --mode test\n');
  expect((await run(`endpoints ls ${key.partner}`)).out).toBe('No live endpoints.\n');
  expect((await run(`deliveries list ${key.partner} --status dropped`)).out).toBe(
    'No live deliveries that fit.\n',
  );
  expect((await run(`events list ${key.partner}`)).out).toBe('No live events. 1 in test: --mode test\n');
});

it('a test event is triggered, listed and audited, and nothing wrong is', async () => {
  const { run, key, provider } = await withPayment();
  const sent = (await run(`trigger ${key.partner} webhook.test --json`)).json().event;
  expect(sent.type).toBe('webhook.test');
  expect((await run(`events list ${key.partner} --mode test`)).out).toContain(sent.id);
  const { entries } = await provider.ostiary.admin.audit.list();
  expect(entries.find(({ action }) => action === 'event.trigger')).toMatchObject({
    action: 'event.trigger',
    target: `event:${sent.id}`,
  });
  for (const wrong of ['no.such.type', 'webhook.test --data {', 'webhook.test --data {"message":7}'])
    expect([wrong, (await run(`trigger ${key.partner} ${wrong}`)).code]).toEqual([wrong, 2]);
  expect((await run('trigger nobody webhook.test')).code).toBe(3);
});

it('requests are listed and shown', async () => {
  const { run, key, provider } = await withPayment();
  const { requests } = await provider.ostiary.admin.requests.list({ partner: key.partner, mode: 'test' });
  const [first] = requests;
  const list = await run(`requests list ${key.partner} --mode test`);
  expect(list.out).toContain('POST /v1/partner/payments');
  const shown = await run(`requests show ${key.partner} ${first?.id ?? ''} --mode test`);
  expect(shown.out).toMatch(/answer +201/);
  expect((await run(`requests show ${key.partner} none`)).code).toBe(3);
});

it('aliases do what their commands do, and are no commands of other nouns', async () => {
  const { run, key } = await withPayment();
  expect((await run('partners ls')).out).toBe((await run('partners list')).out);
  expect((await run(`endpoints delete ${key.partner} we_none`)).code).toBe(3);
  expect((await run('partners rm x')).code).toBe(2);
});

it('the overview has groups in their order', async () => {
  const { run } = await terminal();
  const { out } = await run('--help');
  const titles = [...out.matchAll(/^(\w[\w ]+):$/gm)].map(([, title]) => title);
  expect(titles.filter((title) => title !== 'Options')).toEqual([
    ...['Partners', 'Webhooks', 'Apps and users', 'Service'],
  ]);
});

it.each([
  ['2030-01-31T11:59:58.000Z', '2 s ago'],
  ['2030-01-31T12:00:58.000Z', 'in 58 s'],
  ['2030-01-31T09:00:00.000Z', '3 h ago'],
  ['2030-01-29T12:00:00.000Z', '2 d ago'],
  ['2029-01-29T12:00:00.000Z', '2029-01-29'],
])('%s is %s', (time, words) => {
  expect(relativeTime(time, now)).toBe(words);
});

it('a list fits the terminal, keeps its first column, and is whole in a pipe', () => {
  const row = ['we_5b1f0c9e7d3a4826', `https://example.com/${'x'.repeat(80)}`, '2030-01-31T09:00:00.000Z'];
  const narrow = listOf(['ENDPOINT', 'URL', 'CREATED'], [row], null, { now, width: 60 });
  const [, line = ''] = narrow.split('\n');
  expect(line.length).toBeLessThanOrEqual(60);
  expect(narrow).toMatch(/we_5b1f0c9e7d3a4826 +https:\/\/example.com\/x*… +3 h ago/);
  expect(listOf(['ENDPOINT', 'URL', 'CREATED'], [row], null, { now, width: null })).toContain(row.join('  '));
});
