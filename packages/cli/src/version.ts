import own from '../package.json' with { type: 'json' };

/** Version of the package `@ostiary/cli`. */
export const cliVersion: string = own.version;
