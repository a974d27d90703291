// Without the type `NextConfig`: it brings types for the whole program that this repository has other plans for.
const config = {
  // Not bundled: they read files of their own, and SQLite's driver is native.
  serverExternalPackages: ['@ostiary/core', '@ostiary/adapter-sqlite'],
  // Here they are checked together with those of the other examples.
  typescript: { ignoreBuildErrors: true },
};

export default config;
