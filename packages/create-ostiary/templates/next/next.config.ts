const config = {
  // Not bundled, because these packages read files of their own, and the SQLite driver is native.
  serverExternalPackages: ['@ostiary/core', '@ostiary/adapter-sqlite', '@ostiary/adapter-postgres'],
  // `npm run types` checks the types, including those of the tests.
  typescript: { ignoreBuildErrors: true },
};

export default config;
