import own from '../package.json' with { type: 'json' };

/** The version of this package. */
export const ownVersion: string = own.version;
