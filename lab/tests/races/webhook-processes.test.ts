import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Ostiary } from '@ostiary/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HostProcess, startHost } from '../../support/processes/host.ts';

// An address, so that no name has to be looked up. No worker runs: nobody connects to it.
const url = 'https://93.184.216.34/hook';
const secret = 'a secret of enough length';

describe('two processes with webhooks on one SQLite file', () => {
  const sealingKey = randomBytes(32).toString('base64url');
  let directory: string;
  let processes: HostProcess[] = [];
  let ostiary: Ostiary;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ostiary-races-'));
    const file = join(directory, 'ostiary.db');
    ostiary = await createOstiary({
      authUrl: 'http://localhost:1',
      storage: sqliteStorage({ file }),
      sealingKeys: [sealingKey],
      users: { find: () => null },
      login: { authenticate: () => null, loginUrl: () => '/login' },
    });
    const host = { authUrl: 'http://localhost:1', file, sealingKey, isWorking: false };
    processes = await Promise.all([1, 2].map(() => startHost(host)));
  });
  afterAll(async () => {
    await ostiary?.close();
    await Promise.all(processes.map((process) => process.stop()));
    await rm(directory, { recursive: true, force: true });
  });

  async function newKey(): Promise<string> {
    const slug = `acme-${randomBytes(4).toString('hex')}`;
    await ostiary.admin.partners.create({ slug, name: 'Acme' });
    return (await ostiary.admin.apiKeys.issue({ partner: slug, mode: 'test', scopes: ['webhooks'] })).key;
  }

  async function call(index: number, key: string, target: string, body?: object, headers = {}) {
    const [method = '', path = ''] = target.split(' ');
    const response = await fetch(`${processes[index % 2]?.origin}${path}`, {
      method,
      headers: {
        'x-api-key': key,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      replayed: response.headers.get('idempotent-replayed'),
      text,
      json: JSON.parse(text),
    };
  }

  const endpoint = { url, events: ['webhook.test'], secret };
  const many = <T>(count: number, each: (index: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => each(index)));

  it('register no more than fifty endpoints of sixty that come at once', async () => {
    const key = await newKey();
    const answers = await many(60, (index) => call(index, key, 'POST /v1/partner/webhooks', endpoint));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      ...Array.from({ length: 50 }, () => 201),
      ...Array.from({ length: 10 }, () => 400),
    ]);
    for (const index of [0, 1])
      expect((await call(index, key, 'GET /v1/partner/webhooks')).json.data).toHaveLength(50);
  });

  it('make one endpoint of twenty parallel requests with one key, and answer all of them alike', async () => {
    const key = await newKey();
    const answers = await many(20, (index) =>
      call(index, key, 'POST /v1/partner/webhooks', endpoint, { 'idempotency-key': 'k' }),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
    expect((await call(1, key, 'GET /v1/partner/webhooks')).json.data).toHaveLength(1);
  });

  it('lose no change of an endpoint that both change at once', async () => {
    const key = await newKey();
    const { id } = (await call(0, key, 'POST /v1/partner/webhooks', endpoint)).json;
    const changes = [
      { events: ['webhook.test'] },
      { enabled: false },
      { url: `${url}/moved` },
      { secret: `${secret}!` },
    ];
    const answers = await many(40, (index) =>
      call(Math.floor(index / 4), key, `PATCH /v1/partner/webhooks/${id}`, changes[index % 4]),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    for (const index of [0, 1])
      expect((await call(index, key, `GET /v1/partner/webhooks/${id}`)).json).toMatchObject({
        events: ['webhook.test'],
        enabled: false,
        url: `${url}/moved`,
      });
  });

  it('give one sequence without a gap to what both publish, and one delivery to each endpoint', async () => {
    const key = await newKey();
    const { id } = (await call(0, key, 'POST /v1/partner/webhooks', endpoint)).json;
    const sent = await many(80, (index) =>
      call(index, key, 'POST /v1/partner/sandbox/events', { type: 'webhook.test' }),
    );
    expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 201));
    const { data } = (await call(1, key, 'GET /v1/partner/events?limit=100')).json;
    expect(data.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      sent.map((_, index) => index + 1),
    );
    expect(new Set(data.map((event: { id: string }) => event.id))).toEqual(
      new Set(sent.map(({ json }) => json.id)),
    );
    const delivered = (await call(0, key, `GET /v1/partner/webhooks/${id}/deliveries?limit=100`)).json.data;
    expect(delivered).toHaveLength(80);
    expect(new Set(delivered.map((each: { eventId: string }) => each.eventId)).size).toBe(80);
  });

  it('make one delivery of what both are asked to deliver again', async () => {
    const key = await newKey();
    const event = (await call(0, key, 'POST /v1/partner/sandbox/events', { type: 'webhook.test' })).json;
    const { id } = (await call(0, key, 'POST /v1/partner/webhooks', endpoint)).json;
    const answers = await many(20, (index) =>
      call(index, key, `POST /v1/partner/events/${event.id}/redeliver`, {}),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const { data } = (await call(1, key, `GET /v1/partner/webhooks/${id}/deliveries`)).json;
    expect(data).toHaveLength(1);
  });
});
