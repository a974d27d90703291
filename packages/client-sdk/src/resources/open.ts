/**
 * One of the known values, or a value that a newer server has added. Handle unknown values in a `default`
 * branch.
 *
 * @typeParam Known - values that this version knows
 * @example
 * ```ts
 * const colour = (status: Open<'pending' | 'completed' | 'failed'>): string => (status === 'failed' ? 'red' : 'grey');
 * ```
 */
export type Open<Known extends string> = Known | (string & Record<never, never>);

/** `live`: real users and real money; `test`: the sandbox. */
export type Mode = Open<'live' | 'test'>;

/** State of a user's identity check. */
export type KycStatus = Open<'approved' | 'pending' | 'rejected'>;
