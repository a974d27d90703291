// Without the type `NextConfig`: it brings types for the whole program that this repository has other plans for.
const config = {
  headers: async () => [
    {
      source: '/:path*',
      headers: [
        { key: 'Referrer-Policy', value: 'no-referrer' },
        { key: 'X-Content-Type-Options', value: 'nosniff' },
        { key: 'X-Frame-Options', value: 'SAMEORIGIN' },
      ],
    },
    {
      // Not for Ostiary's pages: what stands here would take the place of their own policy, which the browser needs there.
      source: '/((?!oauth/|account/|sandbox).*)',
      headers: [{ key: 'Content-Security-Policy', value: "default-src 'self'; form-action 'self'" }],
    },
  ],
  // Not bundled: they read files of their own, and SQLite's driver is native.
  serverExternalPackages: ['@ostiary/core', '@ostiary/adapter-sqlite'],
  // Here they are checked together with those of the other examples.
  typescript: { ignoreBuildErrors: true },
};

export default config;
