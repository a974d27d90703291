import type { RequestListener } from 'node:http';
import type { HostScopes, Ostiary, OstiaryOptions } from '@ostiary/core';
import type { NewClient } from '@ostiary/core/admin';
import type { TestClock } from '../clock.ts';
import type { TestFaults } from '../faults.ts';
import type { Fetch } from '../network.ts';
import type { Receiver } from '../webhooks.ts';
import type { HostBrowser } from './browser.ts';
import type { FakeApp } from './fake-app.ts';

/**
 * Options of `createTestOstiary` for developers who embed Ostiary: the same as of `createOstiary`, except for
 * those that the kit sets. Your `users` and `login` are called as in production.
 */
export interface HostTestOptions<Scopes extends HostScopes = HostScopes>
  extends Omit<OstiaryOptions<Scopes>, 'authUrl' | 'storage' | 'sealingKeys' | 'clock'> {
  /** @defaultValue `'https://id.ostiary.test'` */
  readonly authUrl?: string;
  /** Initial time of the test kit's clock. @defaultValue the current time */
  readonly now?: Date | number;
  /** IP address from which requests come. @defaultValue `'192.0.2.1'` */
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
 * Your service, your login and your pages, all in the memory of a test.
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
  /** The service with your options, to be mounted by your server. */
  readonly ostiary: Ostiary<Name>;
  readonly authUrl: string;
  readonly baseUrl: string;
  /**
   * Makes your server handle requests to `authUrl` and `baseUrl`, without a port. Until then Ostiary alone
   * handles them.
   */
  serve(server: TestServer): void;
  /** Sends requests to your server and to the receivers of the test. Requests to other URLs fail. */
  readonly fetch: Fetch;
  /**
   * Creates a browser in which no user is signed in.
   * @param options - `languages`: languages that the browser requests, the preferred one first
   */
  browser(options?: { readonly languages?: readonly string[] }): HostBrowser;
  /** Creates an app, by default public and with all of your scopes. */
  app(settings?: Partial<NewClient<Name>>): Promise<FakeApp<Name>>;
  /**
   * Makes code of the test handle requests at and below a URL: webhooks, logout tokens, reads of documents that
   * clients publish (`jwksUri`, client ID metadata documents), and requests made with `fetch`.
   */
  receive(url: string, receiver: Receiver): void;
  readonly clock: TestClock;
  /**
   * Plans faults of requests to your server, such as a lost response. Requests of the kit's browsers and apps
   * can have faults, too.
   */
  readonly faults: Omit<TestFaults, 'webhooks'>;
  /** Runs all work that is due now. `clock.advance` does this too. */
  settle(): Promise<void>;
  /**
   * Closes the test kit. Calls of `fetch`, `settle` and `clock.advance` that still wait reject, and so do later
   * ones. A second `close` has no effect.
   */
  close(): Promise<void>;
}
