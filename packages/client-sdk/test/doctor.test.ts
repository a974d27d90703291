import { describe, expect, it } from 'vitest';
import { sink } from '../../core/test/webhooks/support/sink.ts';
import type { DoctorReport } from '../src/index.ts';
import { fakeKey, faulty, hang, refusal } from './support/faulty.ts';
import { against, clientOf, failureOf, partner } from './support/partner.ts';

const secret = 'whsec_0123456789abcdef';
const statuses = ({ checks }: DoctorReport) =>
  Object.fromEntries(checks.map(({ name, status }) => [name, status]));

/** Clock with the real time, because the server's `Date` header does not come from a test's clock. */
const now = Date.now;

describe('the doctor', () => {
  it('finds nothing where nothing is wrong', async () => {
    const { ostiary, key } = await partner({}, { now });
    const report = await ostiary.doctor();
    expect(report.ok).toBe(true);
    expect(statuses(report)).toEqual({
      key: 'ok',
      mode: 'ok',
      scopes: 'ok',
      address: 'ok',
      clock: 'ok',
      signature: 'ok',
      limit: 'ok',
    });
    // This key has no name, like most keys, so the report shows its id.
    expect(report.whoami?.key.name).toBe('');
    expect(report.checks[0]?.message).toBe(`${key.id} of ${key.partner}, expires: never`);
    for (const { message } of report.checks) expect(message).toMatch(/^\S+( \S+)*$/);
    expect(report.whoami).toMatchObject({ partner: key.partner, mode: 'test', address: '127.0.0.1' });
    expect(Math.abs(report.clockSkewMs ?? Number.NaN)).toBeLessThan(30_000);
    expect(report.limit?.remaining).toBeLessThan(report.limit?.limit ?? 0);
    const lines = String(report).split('\n');
    expect(lines).toHaveLength(7);
    expect(lines[3]).toMatch(/^address {4}ok {7}127\.0\.0\.1$/);
  });

  it('reports the state of webhook deliveries', async () => {
    const { ostiary, provider } = await partner({}, { now });
    const [good, bad] = [await sink(), await sink()];
    bad.answer = (response) => void response.writeHead(500).end();
    const register = async (url: string, events: string[]) =>
      `webhook ${(await ostiary.webhooks.create({ url, events, secret })).id}`;
    const names = [
      await register(good.url, ['webhook.test']),
      await register(bad.url, ['webhook.test']),
      await register(good.url, ['payment.failed']),
      await register(good.url, ['payment.failed']),
    ];
    await ostiary.webhooks.update(names[3]?.slice('webhook '.length) ?? '', { enabled: false });
    await ostiary.sandbox.triggerEvent({ type: 'webhook.test' });
    await provider.ostiary.worker.runDue();
    const report = await ostiary.doctor();
    expect(names.map((name) => statuses(report)[name])).toEqual(['ok', 'failed', 'unknown', 'warning']);
    expect(report.ok).toBe(false);
    expect(report.checks.find(({ name }) => name === names[1])?.message).toMatch(/^status 500 .*\/hook$/);
  });

  it('reports an attempt without a response without a status', async () => {
    const { ostiary, provider } = await partner({}, { now });
    const closed = 'http://127.0.0.1:9/hook';
    const { id } = await ostiary.webhooks.create({ url: closed, events: ['webhook.test'], secret });
    await ostiary.sandbox.triggerEvent({ type: 'webhook.test' });
    await provider.ostiary.worker.runDue();
    const { checks } = await ostiary.doctor();
    const message = checks.find(({ name }) => name === `webhook ${id}`)?.message;
    expect(message).toMatch(/^\w+ \d{4}-\d\d-\d\dT[\d:.]+Z http:\/\/127\.0\.0\.1:9\/hook$/);
  });

  it('reports a key that needs signatures, expires soon and has few scopes', async () => {
    const { provider } = await partner();
    const expiresAt = new Date(Date.now() + 86_400_000);
    const key = await provider.key({ scopes: ['users:read'], requireSignature: true, expiresAt });
    const report = await clientOf(provider.origin, key.key).ostiary.doctor();
    expect(statuses(report)).toMatchObject({ key: 'warning', signature: 'failed' });
    expect(report.ok).toBe(false);
  });
});

describe('the doctor, when something is wrong', () => {
  it.each([
    [-400_000, 'failed'],
    [60_000, 'warning'],
  ])('sees a clock that is %i ms off', async (skew, status) => {
    const { ostiary } = await partner({}, { now: () => Date.now() + skew });
    const report = await ostiary.doctor();
    expect(statuses(report).clock).toBe(status);
    expect(Math.abs((report.clockSkewMs ?? 0) - skew)).toBeLessThan(20_000);
  });

  it('reports a key that does not work, instead of throwing', async () => {
    const { provider } = await partner();
    const report = await clientOf(provider.origin, fakeKey).ostiary.doctor();
    expect(report).toMatchObject({ ok: false, whoami: null, clockSkewMs: null, limit: null });
    expect(String(report)).toMatch(/^key {2}failed {3}.*invalid_api_key/);
    const { origin } = await faulty([refusal(403, 'ip_not_allowed')]);
    expect(String(await clientOf(origin, fakeKey).ostiary.doctor())).toContain('ip_not_allowed');
  });

  it('stops when its caller aborts', async () => {
    const { ostiary, seen } = await against([hang]);
    const controller = new AbortController();
    const examination = ostiary.doctor({ signal: controller.signal });
    await expect.poll(() => seen.length).toBe(1);
    controller.abort();
    expect(await failureOf(examination)).toMatchObject({ name: 'AbortedError' });
  });
});
