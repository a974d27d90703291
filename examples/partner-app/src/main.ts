import { type Check, origin, port } from '@ostiary/web-kit';
import { startPartnerApp } from './server.ts';

// Starts the shop alone, against your own Ostiary. `npm start` at the root starts both.

function refuse(problem: string): never {
  process.stderr.write(`kafe-lakay: ${problem}\n`);
  process.exit(1);
}

function optional(variable: string): string | null {
  const value = process.env[variable] ?? '';
  return value === '' ? null : value;
}

const required = (variable: string): string => optional(variable) ?? refuse(`${variable} is missing`);

/** Returns an environment variable after checking it, or `fallback` if the variable is not set. */
function checked<Value>(variable: string, check: Check<Value>, fallback: string): Value {
  const { success, data, error } = check.safeParse(optional(variable) ?? fallback);
  return success ? data : refuse(`${variable} ${error.issues[0]?.message ?? 'is wrong'}`);
}

const url = checked('PARTNER_URL', origin, 'http://localhost:4000');
const authUrl = checked('PROVIDER_AUTH_URL', origin, required('PROVIDER_AUTH_URL'));

const key = optional('PARTNER_API_KEY');
const secrets = { live: optional('WEBHOOK_SECRET'), test: optional('WEBHOOK_TEST_SECRET') };

const app = await startPartnerApp({
  url,
  host: optional('HOST') ?? '127.0.0.1',
  port: checked('PARTNER_PORT', port, '4000'),
  provider: { name: 'Ostiary', authUrl, baseUrl: checked('PROVIDER_BASE_URL', origin, authUrl) },
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
