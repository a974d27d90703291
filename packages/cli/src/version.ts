import own from '../package.json' with { type: 'json' };

/** Version of this package. */
export const cliVersion: string = own.version;
