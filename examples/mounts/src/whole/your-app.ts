import type { IncomingMessage } from 'node:http';
import type { Authentication } from '@ostiary/core';
import { createHost } from '../host.ts';

const host = createHost('http://localhost:3000');

// Stand-ins for the code of your app: its users, sessions, login page and port.
export const findUser = host.users.find;
export const sessionOf = (request: IncomingMessage): Authentication | null => host.sessionOf(request);
export const loginUrl = (returnTo: string): string =>
  `/login?${new URLSearchParams({ return_to: returnTo })}`;
export const port = Number(process.env.PORT ?? 3000);
