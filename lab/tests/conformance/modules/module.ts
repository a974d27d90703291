import type { Suite } from '../support/suite.ts';

/** A module of a conformance test plan, with the module's original name. */
export type Module = RunModule | SkippedModule;

/** A conformance module that can be run. */
export interface RunModule {
  readonly name: string;
  /** Summary of what the conformance module checks, in one line. */
  readonly checks: string;
  /**
   * Runs the checks of the conformance module against the provider. Rejects if one of them fails. If the
   * original module ends with a warning, the checks include the reason that `warning` gives.
   */
  run(suite: Suite): Promise<unknown>;
  /** Reason why the original module ends with a warning. A warning does not count as a failure. */
  readonly warning?: string;
  /**
   * Reason why a person has to review the result of the original module. A result that needs a review does
   * not count as a failure.
   */
  readonly review?: string;
  /**
   * Reason why the original module skips its last part. This repository's module checks conditions of its own
   * there.
   */
  readonly skipped?: string;
  /** Difference between the original conformance module and this module. */
  readonly note?: string;
}

/** A conformance module that cannot be run against this provider. */
interface SkippedModule {
  readonly name: string;
  readonly skip: string;
  /**
   * Checks that the reason for skipping a module holds, because a module that could be run must not be
   * skipped.
   */
  holds(suite: Suite): boolean;
}

/** Makes a module of a conformance test plan. */
export const module = (
  name: string,
  checks: string,
  run: RunModule['run'],
  remark: Pick<RunModule, 'warning' | 'review' | 'skipped' | 'note'> = {},
): RunModule => ({ name, checks, run, ...remark });

/** Makes a conformance module that the plan leaves out for clients that are not registered over HTTP. */
export function notForStaticClients(name: string): SkippedModule {
  return {
    name,
    skip: 'not part of the plan for static clients: the client would have to register itself',
    holds: ({ metadata }) => metadata.registration_endpoint === undefined,
  };
}
