import type { ServerConfig } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { ServerNode } from '../operations/nodes.ts';

/** What the checks of an installation look at. */
export interface Examined {
  /** What the environment of the doctor says, which should be that of the servers. */
  readonly config: ServerConfig;
  readonly database: Database;
  /** The clock that the servers go by. */
  readonly now: () => number;
  /** Processes that run. */
  readonly nodes: readonly ServerNode[];
  /** Processes that ended without saying so. */
  readonly silent: readonly ServerNode[];
}

/** Processes by their names, for people. */
export const namesOf = (nodes: readonly ServerNode[]): string =>
  nodes.map(({ facts, role }) => `${facts.name} (${role})`).join(', ');
