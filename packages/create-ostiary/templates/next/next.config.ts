const config = {
  // Not bundled: the driver of SQLite is native.
  serverExternalPackages: ['@ostiary/core', '@ostiary/adapter-sqlite', '@ostiary/adapter-postgres'],
  // `npm run types` checks them, with those of the tests.
  typescript: { ignoreBuildErrors: true },
};

export default config;
