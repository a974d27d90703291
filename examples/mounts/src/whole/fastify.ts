import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { fastify } from 'fastify';
import { findUser, loginUrl, port, sessionOf } from './your-app.ts';

const ostiary = await createOstiary({
  authUrl: 'http://localhost:3000',
  storage: sqliteStorage({ file: 'ostiary.db' }),
  sealingKeys: [process.env.SEALING_KEY ?? ''],
  users: { find: findUser },
  login: { authenticate: sessionOf, loginUrl },
});

const app = fastify();
app.addHook('onRequest', (request, reply, done) => {
  let passed = false;
  ostiary.handler(request.raw, reply.raw, () => {
    passed = true;
    done();
  });
  if (!passed) reply.hijack();
});
app.get('/', async () => 'Your app');
await app.listen({ port });
