/**
 * An application as its developer bundles it: Ostiary, both storages, the console, and the application's own
 * pages.
 */
import { createServer } from 'node:http';
import { postgresStorage } from '@ostiary/adapter-postgres';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { sandboxConsole } from '@ostiary/console';
import { createOstiary } from '@ostiary/core';
import { createHost } from '../../../examples/mounts/src/host.ts';

async function main({ PORT = '', DATABASE_URL, SEALING_KEY = '', REDIRECT_URI = '' }: NodeJS.ProcessEnv) {
  const authUrl = `http://localhost:${PORT}`;
  const host = createHost(authUrl);
  const ostiary = await createOstiary({
    authUrl,
    storage:
      DATABASE_URL === undefined
        ? sqliteStorage({ file: 'host.db' })
        : postgresStorage({ connectionString: DATABASE_URL }),
    sealingKeys: [SEALING_KEY],
    users: host.users,
    payments: host.payments,
    login: {
      authenticate: host.sessionOf,
      loginUrl: (returnTo) => `/login?${new URLSearchParams({ return_to: returnTo })}`,
    },
    console: sandboxConsole(),
    languages: ['en', 'fr', 'ht'],
  });
  const { client, clientSecret } = await ostiary.admin.clients.create({
    name: 'Partner app',
    redirectUris: [REDIRECT_URI],
    allowedScopes: ['openid', 'profile'],
  });
  createServer((request, response) =>
    ostiary.handler(request, response, async () => {
      const { searchParams } = new URL(request.url ?? '/', authUrl);
      if (request.method !== 'POST')
        return response.end(host.loginPage(searchParams.get('return_to') ?? '/'));
      let body = '';
      for await (const chunk of request) body += chunk;
      const { cookie, location } = host.signIn(Object.fromEntries(new URLSearchParams(body)));
      return response.writeHead(303, { location, 'set-cookie': cookie }).end();
    }),
  ).listen(Number(PORT), () => console.log(JSON.stringify({ id: client.clientId, secret: clientSecret })));
}

void main(process.env);
