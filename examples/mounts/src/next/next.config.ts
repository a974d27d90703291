// Without the type `NextConfig`: it would add global types that conflict with this repository's.
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
      // Exclude Ostiary's pages: this header would replace their own policy, which their scripts and styles
      // need. Exclude the login page: Chromium would apply `form-action` to the redirect back to the app.
      source: '/((?!oauth/|account/|sandbox|login).*)',
      headers: [{ key: 'Content-Security-Policy', value: "default-src 'self'; form-action 'self'" }],
    },
  ],
  // Not bundled, because these packages read files of their own, and the SQLite driver is native.
  serverExternalPackages: ['@ostiary/core', '@ostiary/adapter-sqlite'],
  // The types are checked together with the other examples.
  typescript: { ignoreBuildErrors: true },
};

export default config;
