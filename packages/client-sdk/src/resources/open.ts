/**
 * One of these values, or a value that a newer server has added. Handle it in a `default` branch.
 *
 * @typeParam Known - the values of today
 * @example
 * ```ts
 * const colour = (status: Open<'pending' | 'completed' | 'failed'>): string => (status === 'failed' ? 'red' : 'grey');
 * ```
 */
export type Open<Known extends string> = Known | (string & Record<never, never>);

/** `live`: real users and real money; `test`: the sandbox. */
export type Mode = Open<'live' | 'test'>;

/** The state of a user's identity check. */
export type KycStatus = Open<'approved' | 'pending' | 'rejected'>;
