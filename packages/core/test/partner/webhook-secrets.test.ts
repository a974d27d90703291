import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { describe, expect, it } from 'vitest';
import { fragileStorage } from '../support/fragile-storage.ts';
import { temporaryDatabase } from '../support/partner-api.ts';
import { webhookProvider } from '../webhooks/support/webhook-provider.ts';
import { body, hooks, url } from './webhook-shop.ts';

describe('a webhook secret', () => {
  /** Uses a secret in every way there is, and answers everything that was said or logged. */
  async function useSecrets(options: Parameters<typeof webhookProvider>[0]) {
    const secrets = ['first-secret-of-the-endpoint', 'zweites Geheimnis: Schlüssel 🔑'];
    const { provider } = await webhookProvider(options);
    const key = await provider.key({ mode: 'test' });
    const said: string[] = [];
    const call = async (target: string, payload?: unknown, headers = {}) => {
      const answer = await provider.partnerCall(key, target, payload, headers);
      said.push(answer.text, JSON.stringify([...answer.headers]));
      return answer;
    };
    const keyed = { 'idempotency-key': 'k' };
    const { id } = (await call(`POST ${hooks}`, { ...body, secret: secrets[0] }, keyed)).json();
    await call(`POST ${hooks}`, { ...body, secret: secrets[0] }, keyed);
    await call(`POST ${hooks}`, { ...body, secret: secrets[1] }, keyed);
    await call(`POST ${hooks}`, { ...body, secret: `${secrets[0]}${secrets[1]}`.repeat(6) });
    await call(`POST ${hooks}`, { url, events: [secrets[0]], secret: secrets[1] });
    await call(`PATCH ${hooks}/${id}`, { secret: secrets[1] });
    await call(`PATCH ${hooks}/${id}`, { secret: secrets[0], url: 'nonsense' });
    await call('POST /v1/partner/sandbox/events', { type: 'webhook.test' });
    await provider.ostiary.worker.runDue();
    await call(`GET ${hooks}`);
    await call(`GET ${hooks}/${id}`);
    await call(`GET ${hooks}/${id}/deliveries`);
    await call('GET /v1/partner/events');
    await call(`DELETE ${hooks}/${id}`);
    const logged = inspect(provider.logged, { depth: 10, maxStringLength: null, maxArrayLength: null });
    return { secrets, said: said.join('\n'), logged };
  }

  const forms = (text: string) => [
    text,
    JSON.stringify(text).slice(1, -1),
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
    Buffer.from(text).toString('base64url'),
    Buffer.from(text).toString('hex'),
  ];

  it('is in no answer and in no log line', async () => {
    const { secrets, said, logged } = await useSecrets({});
    expect(said).toContain(url);
    expect(logged.length).toBeGreaterThan(100);
    for (const form of secrets.flatMap(forms)) {
      expect(said).not.toContain(form);
      expect(logged).not.toContain(form);
    }
    expect(said).not.toMatch(/"(sealedS|s)ecret":/);
    // The path of a refusal names the field; what stands in it is nowhere.
    expect(said).toContain('"path":"secret"');
  });

  it('is nowhere in the files of a SQLite database', async () => {
    const file = temporaryDatabase();
    const { secrets } = await useSecrets({ storage: sqliteStorage({ file }) });
    const folder = dirname(file);
    const bytes = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
    // The look is a good one: what is stored openly is found.
    expect(bytes.includes(url)).toBe(true);
    for (const form of secrets.flatMap(forms)) expect(bytes.includes(form), form).toBe(false);
  });

  it('is handed to the storage sealed, in another way each time', async () => {
    const database = fragileStorage();
    const { secrets } = await useSecrets({ storage: database.storage });
    const stored = JSON.stringify(database.given, (_name, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    );
    for (const form of secrets.flatMap(forms)) expect(stored).not.toContain(form);
    const sealed = new Set(stored.match(/(?<="sealedSecret":")[^"]+/g));
    expect(sealed.size).toBeGreaterThanOrEqual(2);
  });
});
