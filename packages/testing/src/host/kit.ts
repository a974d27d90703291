import type { RequestListener } from 'node:http';
import type { HostScopes, Ostiary, OstiaryOptions } from '@ostiary/core';
import type { NewClient } from '@ostiary/core/admin';
import type { TestClock } from '../clock.ts';
import type { TestFaults } from '../faults.ts';
import type { Fetch } from '../network.ts';
import type { Receiver } from '../webhooks.ts';
import type { FakeApp } from './app.ts';
import type { HostBrowser } from './browser.ts';

/**
 * Options of `createTestOstiary` for those who embed Ostiary: your own, as in `createOstiary`, but for what the kit brings. Your `users`
 * and `login` are asked as in production.
 */
export interface HostTestOptions<Scopes extends HostScopes = HostScopes>
  extends Omit<OstiaryOptions<Scopes>, 'authUrl' | 'storage' | 'sealingKeys' | 'clock'> {
  /** @defaultValue `'https://id.ostiary.test'` */
  readonly authUrl?: string;
  /** Initial time of the clock. @defaultValue the present */
  readonly now?: Date | number;
  /** The address that requests come from. @defaultValue `'192.0.2.1'` */
  readonly address?: string;
}

/**
 * Your server: a listener for Node's requests (Express's app, Koa's `app.callback()`, Fastify's `app.routing`
 * after `app.ready()`, Nest's `getInstance()`, Hono's `getRequestListener(app.fetch)`, because a mount that
 * needs the address of the connection finds none in `app.fetch` alone), or an object with a `fetch` function
 * (`{ fetch: yourRouteHandler }` of Next.js).
 */
export type TestServer =
  | RequestListener
  | { readonly fetch: (request: Request) => Response | Promise<Response> };

/**
 * Your service, your login and your pages in the memory of a test.
 *
 * @example
 * ```ts
 * import { createTestOstiary } from '@ostiary/testing';
 * import express from 'express';
 *
 * const users = { find: (sub: string) => ({ sub, name: 'Ana' }) };
 * const login = { authenticate: () => ({ sub: 'ana', authenticatedAt: new Date() }), loginUrl: () => '/login' };
 * const kit = await createTestOstiary({ users, login });
 * kit.serve(express().use(kit.ostiary.handler));
 * const app = await kit.app({ allowedScopes: ['profile'] });
 * const { userinfo } = await app.signIn();
 * await kit.close();
 * ```
 */
export interface HostTestOstiary<Name extends string = string> extends AsyncDisposable {
  /** The engine with your options, for your server to mount. */
  readonly ostiary: Ostiary<Name>;
  readonly authUrl: string;
  readonly baseUrl: string;
  /** Lets your server answer for `authUrl` and `baseUrl`, without a port. Until then Ostiary answers alone. */
  serve(server: TestServer): void;
  /** Calls your server and the receivers of the test. Other requests fail. */
  readonly fetch: Fetch;
  /**
   * Makes a new browser in which no user is signed in.
   * @param options - `languages`: in which it asks for pages, the preferred one first
   */
  browser(options?: { readonly languages?: readonly string[] }): HostBrowser;
  /** Provisions an app, by default public and with all of your scopes. */
  app(settings?: Partial<NewClient<Name>>): Promise<FakeApp<Name>>;
  /** Lets code of the test answer at and below a URL: webhooks, logout tokens, and what is sent there with `fetch`. */
  receive(url: string, receiver: Receiver): void;
  readonly clock: TestClock;
  /** Faults on the way of requests to your server. */
  readonly faults: Omit<TestFaults, 'webhooks'>;
  /** Does all that is due now. `clock.advance` does it too. */
  settle(): Promise<void>;
  /** Ends everything. Repeatable. */
  close(): Promise<void>;
}
