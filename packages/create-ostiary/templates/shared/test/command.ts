/** What Node runs to start the app. */
export const command = ['src/server.ts'];
