// app/[...path]/route.ts
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Ostiary } from '@ostiary/core';
import { findUser, loginUrl, sessionOf } from './your-app.ts';

const open = () =>
  createOstiary({
    authUrl: 'http://localhost:3000',
    storage: sqliteStorage({ file: 'ostiary.db' }),
    sealingKeys: [process.env.SEALING_KEY ?? ''],
    users: { find: findUser },
    login: { authenticate: sessionOf, loginUrl },
  });

const kept = globalThis as { ostiary?: Promise<Ostiary> };

export async function GET(request: Request): Promise<Response> {
  kept.ostiary ??= open(); // once, and not during the build
  return (await kept.ostiary).fetch(request, { address: process.env.PROXY_ADDRESS });
}

export { GET as DELETE, GET as OPTIONS, GET as PATCH, GET as POST };
