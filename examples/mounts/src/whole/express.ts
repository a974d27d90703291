import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import express from 'express';
import { findUser, loginUrl, port, sessionOf } from './your-app.ts';

const ostiary = await createOstiary({
  authUrl: 'http://localhost:3000',
  storage: sqliteStorage({ file: 'ostiary.db' }),
  sealingKeys: [process.env.SEALING_KEY ?? ''],
  users: { find: findUser },
  login: { authenticate: sessionOf, loginUrl },
});

const app = express();
app.use(ostiary.handler); // before your body parsers and routes
app.get('/', (_request, response) => void response.send('Your app'));
app.listen(port);
