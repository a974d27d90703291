/** What the doctor has to know of an installation. */
export interface DoctorSettings {
  /** What `NODE_ENV` says: anything but `production` is a finding. */
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
  /** The page of the server that sets a cookie, such as `/login`; `null` when there is none. */
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

/** What a process says of itself. Nothing of it is secret. */
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
  /** What its machine is ahead of the clock that it goes by. */
  readonly clockAheadMs: number;
  /** Connections to PostgreSQL at most. */
  readonly databasePool: number;
}

/** A process of the installation. */
export interface ServerNode {
  readonly role: 'all' | 'web' | 'worker';
  readonly facts: NodeFacts;
}

/** What the checks of an installation look at. */
export interface Examined {
  /** What the environment of the doctor says, which should be that of the servers. */
  readonly settings: DoctorSettings;
  readonly database: DoctorDatabase;
  /** The clock that the servers go by. */
  now(): number;
  /** Processes that run, where they write down that they do; `null` where nobody knows. */
  readonly nodes: readonly ServerNode[] | null;
  /** Processes that ended without saying so. */
  readonly silent: readonly ServerNode[];
}

/** Processes by their names, for people. */
export const namesOf = (nodes: readonly ServerNode[]): string =>
  nodes.map(({ facts, role }) => `${facts.name} (${role})`).join(', ');
