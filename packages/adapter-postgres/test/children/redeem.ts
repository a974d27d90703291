import { createHash } from 'node:crypto';
import { postgresStorage } from '../../src/index.ts';

// Redeems every code of the list, several at once, and reports the answers.
const [connectionString, schema, name, count] = process.argv.slice(2);
const digestOf = (text: string) => createHash('sha256').update(text).digest();

const storage = postgresStorage({ connectionString: String(connectionString), schema: String(schema) });
await storage.open();
process.once('message', async () => {
  const answers = [];
  for (let code = 0; code < Number(count); code += 5) {
    const group = [0, 1, 2, 3, 4].map((offset) =>
      storage.grants.redeem({
        codeDigest: digestOf(`code ${code + offset}`),
        token: { digest: digestOf(`token ${code + offset} ${name}`), issuedAt: 1, expiresAt: 1000 },
        maxFailedVerifiers: 5,
        now: 1,
      }),
    );
    answers.push(...(await Promise.all(group)));
  }
  await storage.close();
  process.send?.(answers, () => process.disconnect());
});
process.send?.('ready');
