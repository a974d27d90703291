/** Description of an installation for the doctor. */
export interface DoctorSettings {
  /** Value of `NODE_ENV`. The doctor reports every value but `production`. */
  readonly mode: string;
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly prefix: string;
  /** Sealing keys of the servers, Base64url, in the servers' order: the first key encrypts. */
  readonly sealingKeys: readonly string[];
  /** Trusted proxies, as CIDR ranges. */
  readonly trustedProxies: readonly string[];
  /** Number of days for which events are kept. */
  readonly retentionDays: number;
  /** Path of the SQLite file; `null` on PostgreSQL. */
  readonly databaseFile: string | null;
  /** Path of a page that sets a cookie, such as `/login`; `null` if there is none. */
  readonly signInPath: string | null;
}

/** Connection to the database that contains Ostiary's tables. */
export interface DoctorDatabase {
  readonly engine: 'sqlite' | 'postgres';
  /** Runs an SQL statement without parameters, and returns its rows. */
  query<Row extends object>(sql: string): Promise<Row[]>;
  /**
   * Lets eight concurrent writers change a row that only one of them may change, and returns how many
   * succeeded.
   */
  race?(): Promise<number>;
}

/** Facts that a server process publishes about itself, none of them secret. */
export interface NodeFacts {
  /** Host name and process id of the process. */
  readonly name: string;
  readonly version: string;
  readonly mode: string;
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly prefix: string;
  readonly trustedProxies: readonly string[];
  readonly privateTargets: boolean;
  /** Names of the process's sealing keys, by {@link keyIdOf}, the current key first. */
  readonly keyIds: readonly string[];
  /** Milliseconds by which the machine's clock is ahead of the clock that Ostiary uses. */
  readonly clockAheadMs: number;
  /** Maximum number of PostgreSQL connections of the process. */
  readonly databasePool: number;
}

/** A running server process of the installation. */
export interface ServerNode {
  readonly role: 'all' | 'web' | 'worker';
  readonly facts: NodeFacts;
}

/** Number of secrets that one sealing key has encrypted. */
export interface SealedCount {
  /** Id of the sealing key in encrypted values; any other text for an unknown key. */
  readonly seal: string;
  readonly count: number;
}

/** Data that the doctor's checks examine. */
export interface Examined {
  /** Settings from the doctor's own environment, which should equal the servers' settings. */
  readonly settings: DoctorSettings;
  readonly database: DoctorDatabase;
  /**
   * Counts the secrets that the server itself stores and encrypts with keys derived from its sealing keys, by
   * sealing key (see {@link sealIdOf}).
   * @defaultValue the server has no such secrets
   */
  countHostSecrets?(): Promise<readonly SealedCount[]>;
  /** Returns the current time of the clock that the servers use, in milliseconds since the Unix epoch. */
  now(): number;
  /** Running server processes, if they register themselves; `null` if unknown. */
  readonly nodes: readonly ServerNode[] | null;
  /** Server processes that ended without unregistering. */
  readonly silent: readonly ServerNode[];
}

/** Joins the names of processes for a message. */
export const namesOf = (nodes: readonly ServerNode[]): string =>
  nodes.map(({ facts, role }) => `${facts.name} (${role})`).join(', ');
