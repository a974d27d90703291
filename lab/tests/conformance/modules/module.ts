import type { Suite } from '../support/suite.ts';

/** A module of a plan, with its original name. */
export type Module = RunModule | SkippedModule;

/** A module that can be run. */
export interface RunModule {
  readonly name: string;
  /** Summary of what the module checks, in one line. */
  readonly checks: string;
  /** Rejects if a condition does not hold, including that of a warning. */
  run(suite: Suite): Promise<unknown>;
  /** Reason why the original ends with a warning, which does not count as a failure. */
  readonly warning?: string;
  /** Reason why a person has to review the result of the original, which does not count as a failure. */
  readonly review?: string;
  /** Reason why the original skips the rest of the module. The conditions here are our own. */
  readonly skipped?: string;
  /** Difference between the original and this module. */
  readonly note?: string;
}

/** A module that cannot be run against this provider. */
interface SkippedModule {
  readonly name: string;
  readonly skip: string;
  /** Checks that the reason holds; a module that could be run must not be skipped. */
  holds(suite: Suite): boolean;
}

/** Makes a module of a plan. */
export const module = (
  name: string,
  checks: string,
  run: RunModule['run'],
  remark: Pick<RunModule, 'warning' | 'review' | 'skipped' | 'note'> = {},
): RunModule => ({ name, checks, run, ...remark });

/** Makes a module that the plan leaves out for clients that are not registered over HTTP. */
export function notForStaticClients(name: string): SkippedModule {
  return {
    name,
    skip: 'not part of the plan for static clients: the client would have to register itself',
    holds: ({ metadata }) => metadata.registration_endpoint === undefined,
  };
}
