import { createServer } from 'node:http';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { findUser, loginUrl, port, sessionOf } from './your-app.ts';

const ostiary = await createOstiary({
  authUrl: 'http://localhost:3000',
  storage: sqliteStorage({ file: 'ostiary.db' }),
  sealingKeys: [process.env.SEALING_KEY ?? ''],
  users: { find: findUser },
  login: { authenticate: sessionOf, loginUrl },
});

createServer((request, response) =>
  ostiary.handler(request, response, () => response.end('Your app')),
).listen(port);
