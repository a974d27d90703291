import { expect, it, vi } from 'vitest';
import type { TransferContradiction } from '../../src/index.ts';
import { till } from './till.ts';

const completed = { status: 'completed' } as const;
const failed = { status: 'failed', code: 'refused', message: 'Refused.' } as const;

/** Starts a provider whose payment rail records the contradictions that it is notified of. */
async function contradicting() {
  const given = await till();
  const notices: TransferContradiction[] = [];
  Object.assign(given.rail, {
    onContradiction: (notice: TransferContradiction) => void notices.push(notice),
  });
  const { audit } = given.provider.ostiary.admin;
  return {
    ...{ ...given, notices },
    acts: async (id: string) => (await audit.list({ target: `transfer:${id}` })).entries,
    errors: () => given.provider.logged.filter(({ level }) => level === 'error'),
    contradictions: async () =>
      (await given.metrics()).find(({ name }) => name === 'ostiary.payments.contradiction')?.count ?? 0,
  };
}

it.each([
  ['completes', completed, failed],
  ['fails', failed, completed],
])(
  'a transfer that %s after the host settled it the other way keeps the first outcome, and the host is notified',
  async (_, late, first) => {
    const { key, rail, pay, show, settle, work, notices, acts, errors, contradictions } =
      await contradicting();
    const id = await pay();
    rail.answer = async () => {
      expect(await settle(id, first)).toMatchObject({ settled: true });
      return late;
    };
    await work();
    expect(await show(id)).toMatchObject({ status: first.status });
    const outcome = { partner: key.partner, mode: 'live', kept: first.status, reported: late.status };
    expect(notices).toEqual([{ id, ...outcome }]);
    expect(await acts(id)).toMatchObject([
      { action: 'transfer.contradiction', actor: 'host', details: outcome },
    ]);
    expect(errors()).toMatchObject([
      { message: 'a transfer was given two different outcomes', fields: { transfer: id, ...outcome } },
    ]);
    expect(await contradictions()).toBe(1);
  },
);

it('a settlement that contradicts the first one is reported, and one that repeats it is not', async () => {
  const { rail, pay, show, settle, work, notices } = await contradicting();
  rail.answer = async () => ({ status: 'pending' });
  const id = await pay();
  await work();
  for (const settlement of [completed, completed]) await settle(id, settlement);
  expect(notices).toEqual([]);
  expect(await settle(id, failed)).toEqual({ settled: false, transfer: await show(id) });
  expect(notices).toMatchObject([{ id, kept: 'completed', reported: 'failed' }]);
});

it('a notice that fails changes nothing, and is logged', async () => {
  const { rail, pay, show, settle, work, acts, errors } = await contradicting();
  Object.assign(rail, { onContradiction: vi.fn(() => Promise.reject(new Error('pager is down'))) });
  const id = await pay();
  await work();
  expect(await settle(id, failed)).toEqual({ settled: false, transfer: await show(id) });
  expect(await acts(id)).toHaveLength(1);
  expect(errors().map(({ message }) => message)).toContain('payments.onContradiction failed');
});
