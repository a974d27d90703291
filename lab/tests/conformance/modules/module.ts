import type { Suite } from '../support/suite.ts';

/** A module of a plan, under the name that it has there. */
export type Module = RunModule | SkippedModule;

/** A module that is run. */
export interface RunModule {
  readonly name: string;
  /** What is proved, in a line. */
  readonly checks: string;
  /** Rejects when a condition does not hold, the reason of a warning included. */
  run(suite: Suite): Promise<unknown>;
  /** Why the original ends with a warning, which does not count as a failure. */
  readonly warning?: string;
  /** Where the original does something else. */
  readonly note?: string;
}

/** A module that cannot be run against this provider. */
interface SkippedModule {
  readonly name: string;
  readonly skip: string;
  /** Whether the reason holds; a module that could be run must not be skipped. */
  holds(suite: Suite): boolean;
}

/** One row of a plan. */
export const module = (
  name: string,
  checks: string,
  run: RunModule['run'],
  remark: Pick<RunModule, 'warning' | 'note'> = {},
): RunModule => ({ name, checks, run, ...remark });

/** Modules that the plan leaves out where clients are provisioned and not registered over HTTP. */
export function notForStaticClients(name: string): SkippedModule {
  return {
    name,
    skip: 'not part of the plan for static clients: the client would have to register itself',
    holds: ({ metadata }) => metadata.registration_endpoint === undefined,
  };
}
