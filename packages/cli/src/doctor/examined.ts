/** Description of an installation for the doctor. */
export interface DoctorSettings {
  /** Value of `NODE_ENV`. Every value but `production` is a finding. */
  readonly mode: string;
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly prefix: string;
  /** Base64url, as the servers have them: the first one seals. */
  readonly sealingKeys: readonly string[];
  /** CIDR ranges. */
  readonly trustedProxies: readonly string[];
  /** Days for which events are kept. */
  readonly retentionDays: number;
  /** The SQLite file; `null` on PostgreSQL. */
  readonly databaseFile: string | null;
  /** Page of the server that sets a cookie, such as `/login`; `null` if there is none. */
  readonly signInPath: string | null;
}

/** The database that Ostiary's tables are in. */
export interface DoctorDatabase {
  readonly engine: 'sqlite' | 'postgres';
  /** Answers the rows of a statement without parameters. */
  query<Row extends object>(sql: string): Promise<Row[]>;
  /** Lets eight writers change a row that one of them may change; answers how many did. */
  race?(): Promise<number>;
}

/** Data that a process publishes about itself. None of it is secret. */
export interface NodeFacts {
  /** Host name and process id. */
  readonly name: string;
  readonly version: string;
  readonly mode: string;
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly prefix: string;
  readonly trustedProxies: readonly string[];
  readonly privateTargets: boolean;
  /** Names of its sealing keys, by {@link keyIdOf}, the current one first. */
  readonly keyIds: readonly string[];
  /** Milliseconds by which its machine's clock is ahead of the clock that it uses. */
  readonly clockAheadMs: number;
  /** Connections to PostgreSQL at most. */
  readonly databasePool: number;
}

/** A process of the installation. */
export interface ServerNode {
  readonly role: 'all' | 'web' | 'worker';
  readonly facts: NodeFacts;
}

/** Input of the checks of an installation. */
export interface Examined {
  /** Settings in the environment of the doctor, which should be those of the servers. */
  readonly settings: DoctorSettings;
  readonly database: DoctorDatabase;
  /** The clock that the servers go by. */
  now(): number;
  /** Running processes, if they register themselves; `null` if unknown. */
  readonly nodes: readonly ServerNode[] | null;
  /** Processes that ended without saying so. */
  readonly silent: readonly ServerNode[];
}

/** Processes by their names, for people. */
export const namesOf = (nodes: readonly ServerNode[]): string =>
  nodes.map(({ facts, role }) => `${facts.name} (${role})`).join(', ');
