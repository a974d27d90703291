import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, vi } from 'vitest';
import type { Storage } from '../../src/storage.ts';
import { RawConnection } from '../attacks/raw.ts';
import { partnerProvider } from '../support/partner-api.ts';
import type { TestKey } from '../support/provider.ts';

describe('a reconciliation export', () => {
  /** Many pages, each of them large, of a storage that counts how it is asked. */
  async function manyPages() {
    const inner = memoryStorage();
    const row = {
      mode: 'live',
      status: 'completed',
      amount: 1n,
      currency: 'HTG',
      recipientKid: 'KID-ANA',
      description: 'd'.repeat(140),
    } as const;
    const rest = {
      partner: 'p',
      reference: null,
      metadata: null,
      failure: null,
      createdAt: 1,
      completedAt: 1,
    } as const;
    const pages = { asked: 0, error: null as Error | null };
    const storage: Storage = {
      ...inner,
      transfers: {
        ...inner.transfers,
        async listFinal() {
          pages.asked += 1;
          if (pages.asked > 3 && pages.error !== null) throw pages.error;
          return Array.from({ length: 1_000 }, (_, index) => ({
            ...row,
            ...rest,
            id: `tr_${pages.asked}_${index}`,
            updatedAt: pages.asked,
          }));
        },
      },
    };
    const { provider } = await partnerProvider({ storage });
    return { provider, key: await provider.key(), pages };
  }

  const request = (key: TestKey) =>
    `GET /v1/partner/reconciliation?date=2024-01-01 HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key.key}\r\n\r\n`;

  it('that is read slowly asks for no more than the reader takes, and ends with the reader', async () => {
    const { provider, key, pages } = await manyPages();
    const connection = await RawConnection.open(provider.origin);
    connection.pause();
    connection.write(request(key));
    // The pages that fit into buffers of both sides are made; then nothing more.
    let before = -1;
    await vi.waitFor(
      () => {
        const grew = pages.asked !== before;
        before = pages.asked;
        expect(grew || pages.asked === 0).toBe(false);
      },
      { interval: 150, timeout: 5_000 },
    );
    expect(pages.asked).toBeGreaterThan(0);
    expect(pages.asked).toBeLessThan(60);
    // Others are served meanwhile.
    expect((await provider.partnerCall(key, 'GET /v1/partner/users/KID-ANA')).status).toBe(200);
    connection.resume();
    const mark = pages.asked;
    await vi.waitFor(() => expect(pages.asked).toBeGreaterThan(mark + 5), { timeout: 10_000 });
    connection.reset();
    let last = -1;
    await vi.waitFor(
      () => {
        const grew = pages.asked !== last;
        last = pages.asked;
        expect(grew).toBe(false);
      },
      { interval: 100, timeout: 5_000 },
    );
    expect(provider.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('that breaks off in the middle is cut, logged, and has no summary', async () => {
    const { provider, key, pages } = await manyPages();
    pages.error = Object.assign(new Error('secret detail'), { code: 'STORAGE_UNAVAILABLE' });
    const connection = await RawConnection.open(provider.origin);
    connection.write(request(key));
    const text = await connection.all();
    expect(text).toContain('HTTP/1.1 200 OK');
    expect(text).toContain('tr_1_0');
    expect(text).not.toContain('"summary"');
    expect(text.endsWith('0\r\n\r\n')).toBe(false);
    expect(
      provider.logged.filter(({ level, message }) => level === 'error' && message === 'an answer broke off'),
    ).toHaveLength(1);
  });

  it('answers HEAD without reading it all', async () => {
    const { provider, key, pages } = await manyPages();
    const answer = await provider.partnerCall(key, 'HEAD /v1/partner/reconciliation?date=2024-01-01');
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(pages.asked).toBeLessThan(4);
  });
});
