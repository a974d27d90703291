import type { Ostiary } from '@ostiary/core';
import { serveExpress } from './express.ts';
import { serveFastify } from './fastify.ts';
import { serveHono } from './hono.ts';
import type { Host } from './host.ts';
import { serveKoa } from './koa.ts';
import type { Stop } from './listening.ts';
import { serveNest } from './nest.ts';
import { serveNodeHttp } from './node-http.ts';

/** Starts a server of a framework, with Ostiary in front of the host's own routes. */
export type Mount = (ostiary: Ostiary, host: Host, port: number) => Promise<Stop>;

/** Frameworks in which the application itself starts the server. Next.js is not among them. */
export const mounts: { readonly [framework: string]: Mount } = {
  express: serveExpress,
  fastify: serveFastify,
  hono: serveHono,
  koa: serveKoa,
  nest: serveNest,
  'node-http': serveNodeHttp,
};
