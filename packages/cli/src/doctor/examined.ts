/** Description of an installation for the doctor. */
export interface DoctorSettings {
  /** Value of `NODE_ENV`. The doctor reports every value but `production`. */
  readonly mode: string;
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly prefix: string;
  /** Sealing keys of the servers, Base64url, in the same order: the first key seals. */
  readonly sealingKeys: readonly string[];
  /** Trusted proxies, as CIDR ranges. */
  readonly trustedProxies: readonly string[];
  /** Retention of events, in days. */
  readonly retentionDays: number;
  /** Path of the SQLite file; `null` on PostgreSQL. */
  readonly databaseFile: string | null;
  /** Path of a page that sets a cookie, such as `/login`; `null` if there is none. */
  readonly signInPath: string | null;
}

/** Connection to the database that contains Ostiary's tables. */
export interface DoctorDatabase {
  readonly engine: 'sqlite' | 'postgres';
  /** Returns the rows of a statement without parameters. */
  query<Row extends object>(sql: string): Promise<Row[]>;
  /**
   * Lets eight concurrent writers change a row that only one of them may change, and returns how many
   * succeeded.
   */
  race?(): Promise<number>;
}

/** Data that a process publishes about itself, none of it secret. */
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
  /** Maximum number of connections to PostgreSQL. */
  readonly databasePool: number;
}

/** A process of the installation. */
export interface ServerNode {
  readonly role: 'all' | 'web' | 'worker';
  readonly facts: NodeFacts;
}

/** Input of the checks of an installation. */
export interface Examined {
  /** Settings read from the doctor's environment. They should equal the servers' settings. */
  readonly settings: DoctorSettings;
  readonly database: DoctorDatabase;
  /** Returns the current time of the clock that the servers use, in milliseconds since the Unix epoch. */
  now(): number;
  /** Running processes, if they register themselves; `null` if unknown. */
  readonly nodes: readonly ServerNode[] | null;
  /** Processes that stopped without unregistering. */
  readonly silent: readonly ServerNode[];
}

/** Joins the names of processes for a message. */
export const namesOf = (nodes: readonly ServerNode[]): string =>
  nodes.map(({ facts, role }) => `${facts.name} (${role})`).join(', ');
