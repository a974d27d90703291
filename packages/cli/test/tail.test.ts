import { describe, expect, it } from 'vitest';
import { register, trigger, webhookProvider } from '../../core/test/partner/webhook-shop.ts';
import { sink } from '../../core/test/webhooks/support/sink.ts';
import { terminal } from './support.ts';

/** Starts a partner with an endpoint that refuses webhooks. `line` is the command that shows its test data. */
async function shop() {
  const made = await terminal(webhookProvider());
  const key = await made.provider.key({ mode: 'test' });
  const hook = await sink();
  hook.answer = (response) => void response.writeHead(503).end();
  const endpoint = await register(made.provider, key, hook.url);
  const line = `tail ${key.partner} --mode test`;
  return { ...made, key, hook, endpoint, line };
}

const kinds = (out: string) => out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));

describe('ostiary tail', () => {
  it('shows the newest events and deliveries, oldest first, and ends with --once', async () => {
    const { run, provider, key, line, endpoint } = await shop();
    const events = [];
    for (let count = 0; count < 3; count += 1) {
      provider.clock.advance(1000);
      events.push(await trigger(provider, key));
    }
    const { code, out, err } = await run(`${line} --once`);
    expect([code, err]).toEqual([0, '']);
    const lines = out.trimEnd().split('\n');
    expect(lines).toHaveLength(6);
    expect(lines[0]).toMatch(new RegExp(`^\\S+Z  event     webhook.test  ${events[0]?.id}  #1$`));
    expect(lines[1]).toMatch(/^\S+Z {2}delivery {2}webhook\.test {2}dl_\w+ {2}queued we_\w+ \(evt_\w+\)$/);
    expect(out).toContain(endpoint);
    const json = kinds((await run(`${line} --once --json --last 1`)).out);
    expect(json).toMatchObject([
      { kind: 'event', id: events[2]?.id, sequence: 3, data: { message: expect.any(String) } },
      { kind: 'delivery', eventId: events[2]?.id, status: 'pending' },
    ]);
    expect((await run(`${line} --once --last 0`)).out).toBe('');
  });

  it('filters by type, state and endpoint', async () => {
    const { run, provider, key, line, endpoint } = await shop();
    await trigger(provider, key);
    await trigger(provider, key, 'kyc.updated');
    const shown = async (flags: string) => kinds((await run(`${line} --once --json ${flags}`)).out);
    const typed = await shown('--event-types kyc.updated');
    expect(typed.map(({ kind, type, eventType }) => [kind, type ?? eventType])).toEqual([
      ['event', 'kyc.updated'],
      ['delivery', 'kyc.updated'],
    ]);
    expect(await shown('--status dropped')).toEqual([]);
    expect(await shown('--status pending')).toHaveLength(2);
    expect(await shown(`--endpoint ${endpoint}`)).toHaveLength(2);
    expect(await shown('--endpoint we_other')).toEqual([]);
  });

  it('shows requests to the API, too, or only failed ones', async () => {
    const { run, provider, key, line } = await shop();
    await trigger(provider, key);
    provider.clock.advance(1);
    await provider.partnerCall(key, 'POST /v1/partner/payments', { amount: 'x' });
    const shown = async (flags: string) => kinds((await run(`${line} --once --json ${flags}`)).out);
    // Requests are logged after their response.
    await expect.poll(() => shown('--failed')).toMatchObject([{ code: 'invalid_request' }]);
    const all = await shown('--requests');
    expect(all.map(({ kind, route }) => route ?? kind).sort()).toEqual([
      ...['/v1/partner/payments', '/v1/partner/sandbox/events', '/v1/partner/webhooks'],
      ...['delivery', 'event'],
    ]);
    expect((await run(`${line} --once --failed`)).out).toMatch(
      /^\S+Z {2}request {3}POST \/v1\/partner\/payments {2}400 invalid_request {2}\d+ ms {2}[0-9a-f-]{36}\n$/,
    );
  });

  it('shows new events and changes of deliveries until it is stopped', async () => {
    const { run, provider, key, line, hook } = await shop();
    const ending = new AbortController();
    let out = '';
    /**
     * Actions of the test, each with a pattern: the action is performed once `ostiary tail` has printed a
     * line that matches the pattern.
     */
    const steps: [RegExp, () => unknown][] = [
      [/"kind":"event".*"sequence":1,/, () => trigger(provider, key)],
      [/"kind":"event".*"sequence":2,/, () => provider.ostiary.worker.runDue()],
      [
        /"kind":"delivery".*"httpStatus":503/,
        async () => {
          hook.answer = (response) => void response.writeHead(204).end();
          provider.clock.advance(60_000);
          await provider.ostiary.worker.runDue();
        },
      ],
      [/"kind":"delivery".*"status":"delivered"/, () => ending.abort()],
    ];
    await trigger(provider, key);
    const stdout = {
      write(text: string) {
        out += text;
        const [pattern, act] = steps[0] ?? [];
        if (pattern?.test(text) === true) {
          steps.shift();
          void act?.();
        }
      },
    };
    const ended = await run(`${line} --json --interval 0`, { stdout, signal: ending.signal });
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(steps).toEqual([]);
    // No entry is shown twice.
    const shown = out.trimEnd().split('\n');
    expect(new Set(shown).size).toBe(shown.length);
    expect(kinds(out).filter(({ kind }) => kind === 'event')).toHaveLength(2);
  });
});
