import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as standardWebhooksOfNpm from 'standardwebhooks';
import * as svixOfNpm from 'svix';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { shop } from '../../../packages/core/test/partner/webhook-shop.ts';
import { type Received, sink } from '../../../packages/core/test/webhooks/support/sink.ts';
import { type Installed, inPlace, installed, standardWebhooks, svix } from './support/python-packages.ts';

const script = fileURLToPath(new URL('support/standard_webhooks.py', import.meta.url));

/** A webhook delivery that a library verifies with a secret. */
type Delivery = Pick<Received, 'body' | 'headers'> & { readonly secret: string };

/** Returns `ok` or the name of the error for each verified delivery. */
type Verify = (deliveries: readonly Delivery[]) => Promise<readonly string[]>;

/** Makes a function that verifies deliveries with the class of a library from npm. */
function withNpm({
  Webhook,
  WebhookVerificationError,
}: typeof standardWebhooksOfNpm | typeof svixOfNpm): Verify {
  return async (deliveries) =>
    deliveries.map(({ body, headers, secret }) => {
      const isEncoded = secret.startsWith('whsec_');
      const webhook = isEncoded ? new Webhook(secret) : new Webhook(Buffer.from(secret), { format: 'raw' });
      try {
        webhook.verify(body, headers as Record<string, string>);
        return 'ok';
      } catch (error) {
        if (!(error instanceof WebhookVerificationError)) throw error;
        return 'WebhookVerificationError';
      }
    });
}

/** Makes a function that verifies deliveries with the class of a library from PyPI. */
function withPyPI(bin: string, module: string): Verify {
  return async (deliveries) => {
    const folder = mkdtempSync(join(tmpdir(), 'ostiary-standard-webhooks-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'deliveries.json');
    const rows = deliveries.map((delivery) => ({ ...delivery, body: delivery.body.toString('base64') }));
    writeFileSync(file, JSON.stringify(rows));
    return JSON.parse(await inPlace(bin, 'python', [script, module, file]));
  };
}

let python: { readonly standardWebhooks: Installed; readonly svix: Installed };
beforeAll(async () => {
  python = { standardWebhooks: await installed(standardWebhooks), svix: await installed(svix) };
});

const libraries: readonly (readonly [name: string, verifier: () => Verify | { readonly missing: string }])[] =
  [
    ['standardwebhooks of npm', () => withNpm(standardWebhooksOfNpm)],
    ['svix of npm', () => withNpm(svixOfNpm)],
    [
      'standardwebhooks of PyPI',
      () =>
        'missing' in python.standardWebhooks
          ? python.standardWebhooks
          : withPyPI(python.standardWebhooks.bin, 'standardwebhooks'),
    ],
    [
      'svix of PyPI',
      () => ('missing' in python.svix ? python.svix : withPyPI(python.svix.bin, 'svix.webhooks')),
    ],
  ];

const secrets = {
  'in base64': `whsec_${randomBytes(32).toString('base64')}`,
  'of the longest key': `whsec_${randomBytes(64).toString('base64')}`,
  'in hexadecimal, as the console makes without the option': `whsec_${randomBytes(32).toString('hex')}`,
  'of any characters': 'a secret with ünïcode, not whsec_ encoded',
};

/**
 * Starts a service with the option for Standard Webhooks headers, and an endpoint for each secret. Returns
 * the deliveries that the endpoints received.
 */
async function deliveriesOf(all: readonly string[]): Promise<Delivery[]> {
  const service = await shop({ webhooks: { standardHeaders: true } });
  const made = all.map(async (secret) => {
    const endpoint = await sink();
    // The first attempt fails, so that the next one is signed at another time.
    endpoint.answer = (response) => response.writeHead(endpoint.received.length === 1 ? 500 : 204).end();
    await service.register(endpoint.url, { secret });
    return { secret, endpoint };
  });
  const endpoints = await Promise.all(made);
  await service.trigger();
  await service.work();
  service.provider.clock.advance(61_000);
  await service.work();
  return endpoints.flatMap(({ secret, endpoint }) =>
    endpoint.received.map((delivery) => ({ ...delivery, secret })),
  );
}

/** Makes altered copies of a delivery, which a library must refuse. */
function altered({ body, headers, secret }: Delivery): Delivery[] {
  const changed = Buffer.from(body);
  changed[changed.length - 2] = (changed[changed.length - 2] ?? 0) ^ 1;
  const shifted = String(Number(headers['webhook-timestamp']) + 1);
  return [
    { body: changed, headers, secret },
    { body, headers: { ...headers, 'webhook-id': `${headers['webhook-id']}0` }, secret },
    { body, headers: { ...headers, 'webhook-timestamp': shifted }, secret },
    { body, headers, secret: `whsec_${randomBytes(32).toString('base64')}` },
  ];
}

describe.each(libraries)('%s', (_, verifier) => {
  it.for(Object.entries(secrets))(
    'verifies real deliveries under a secret %s',
    async ([, secret], context) => {
      const verify = verifier();
      if ('missing' in verify) {
        // Print the reason for the skip, which the reporter leaves out.
        console.warn(`not tested: ${verify.missing}`);
        return context.skip(verify.missing);
      }
      const deliveries = await deliveriesOf([secret]);
      expect(deliveries).toHaveLength(2);
      expect(await verify(deliveries)).toEqual(['ok', 'ok']);
      const forged = deliveries.flatMap(altered);
      expect(await verify(forged)).toEqual(forged.map(() => 'WebhookVerificationError'));
    },
  );
});
