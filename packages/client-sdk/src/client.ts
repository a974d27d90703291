import { type DoctorReport, examine } from './doctor.ts';
import type { ApiPromise } from './http/api-promise.ts';
import {
  type Connection,
  checkPartnerOptions,
  type OstiaryPartnerOptions,
  type RequestOptions,
  refuse,
} from './options.ts';
import { type Events, events } from './resources/events.ts';
import { type Passports, passports } from './resources/passports.ts';
import { type Payments, payments } from './resources/payments.ts';
import { type Sandbox, sandbox } from './resources/sandbox.ts';
import { type Users, users } from './resources/users.ts';
import { type Webhooks, webhooks } from './resources/webhooks.ts';
import { type Whoami, whoami } from './resources/whoami.ts';

/**
 * Checked options of each client, with its secrets. They are kept outside the client object, so that logging
 * a client shows no secret.
 */
const connections = /* @__PURE__ */ new WeakMap<OstiaryPartner, Connection>();

/**
 * Returns the checked options and secrets of a client, for the other entry points of this package.
 * @throws TypeError if `client` is not a client of this package
 */
export function connectionOf(client: OstiaryPartner): Connection {
  return (
    connections.get(client) ??
    refuse('give an OstiaryPartner, loaded in the same way, as ES module or CommonJS')
  );
}

/**
 * Client of the partner API. Create one and keep it: it holds no connection, and calls may run in parallel.
 * Nothing that it throws, logs or prints about itself contains the API key or the signing secret.
 *
 * @example
 * ```ts
 * const ostiary = new OstiaryPartner({ apiKey: process.env.OSTIARY_API_KEY ?? '', baseUrl: 'https://api.example.com' });
 * const { partner, mode } = await ostiary.whoami();
 * console.log(partner, mode);
 * ```
 */
export class OstiaryPartner {
  /** Mode of the API key: live or test. */
  readonly mode: 'live' | 'test';
  readonly passports: Passports;
  readonly payments: Payments;
  readonly users: Users;
  readonly webhooks: Webhooks;
  readonly events: Events;
  readonly sandbox: Sandbox;

  /**
   * Makes a client. @throws TypeError for wrong or unknown options, and in a browser without
   * `dangerouslyAllowBrowser`
   */
  constructor(options: OstiaryPartnerOptions) {
    const { connection, mode } = checkPartnerOptions(options);
    this.mode = mode;
    this.passports = passports(connection);
    this.payments = payments(connection);
    this.users = users(connection);
    this.webhooks = webhooks(connection);
    this.events = events(connection);
    this.sandbox = sandbox(connection);
    connections.set(this, connection);
  }

  /**
   * Returns the owner, mode and scopes of the API key, and your IP address. Needs no scope.
   *
   * @throws OstiaryError
   */
  whoami(options?: RequestOptions): ApiPromise<Whoami> {
    return whoami(connectionOf(this), options);
  }

  /**
   * Checks your set-up: key, scopes, IP address, clock, signature, rate limit and, if the key has the scope
   * `webhooks`, the first 20 webhook endpoints. The report lists the results, and `String(report)` is a
   * table. Changes nothing.
   *
   * @throws TypeError for wrong options, OstiaryError `aborted` if the caller aborts; nothing else
   * @example
   * ```ts
   * const report = await ostiary.doctor();
   * console.log(String(report));
   * if (!report.ok) process.exitCode = 1;
   * ```
   */
  doctor(options?: RequestOptions): Promise<DoctorReport> {
    return examine(connectionOf(this), this.webhooks, options);
  }
}
