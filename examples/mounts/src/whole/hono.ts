import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { Hono } from 'hono';
import { findUser, loginUrl, port, sessionOf } from './your-app.ts';

const ostiary = await createOstiary({
  authUrl: 'http://localhost:3000',
  storage: sqliteStorage({ file: 'ostiary.db' }),
  sealingKeys: [process.env.SEALING_KEY ?? ''],
  users: { find: findUser },
  login: { authenticate: sessionOf, loginUrl },
});

const app = new Hono();
app.use((c, next) => ostiary.fetch(c.req.raw, { address: getConnInfo(c).remote.address, next }));
app.get('/', (c) => c.text('Your app'));
serve({ fetch: app.fetch, port });
