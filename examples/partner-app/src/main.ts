import { startPartnerApp } from './server.ts';

// The shop on its own, against an Ostiary of yours. `npm start` at the root starts both.

function required(variable: string): string {
  const value = process.env[variable];
  if (value !== undefined && value !== '') return value;
  process.stderr.write(`kafe-lakay: ${variable} is missing\n`);
  process.exit(1);
}

const url = process.env.PARTNER_URL ?? 'http://localhost:4000';
const authUrl = required('PROVIDER_AUTH_URL');

function optional(variable: string): string | null {
  const value = process.env[variable] ?? '';
  return value === '' ? null : value;
}

const key = optional('PARTNER_API_KEY');
const secrets = { live: optional('WEBHOOK_SECRET'), test: optional('WEBHOOK_TEST_SECRET') };

const app = await startPartnerApp({
  url,
  host: process.env.HOST ?? '127.0.0.1',
  port: Number(process.env.PARTNER_PORT ?? 4000),
  provider: { name: 'Ostiary', authUrl, baseUrl: process.env.PROVIDER_BASE_URL ?? authUrl },
  clients: {
    confidential: { clientId: required('CLIENT_ID'), clientSecret: required('CLIENT_SECRET') },
    public: { clientId: required('PUBLIC_CLIENT_ID'), clientSecret: null },
  },
  partnerApi: key === null ? null : { key, signingSecret: required('PARTNER_SIGNING_SECRET') },
  webhooks:
    secrets.live === null && secrets.test === null
      ? null
      : { prefix: optional('PROVIDER_PREFIX') ?? 'svc', secrets },
});

process.once('SIGTERM', () => void app.close());
process.once('SIGINT', () => void app.close());
process.stdout.write(`Kafe Lakay is open at ${url}\n`);
