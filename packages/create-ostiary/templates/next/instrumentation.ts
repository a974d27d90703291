/** Called by Next.js when the server starts, so that Ostiary is ready before the first request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return;
  const { instance } = await import('./src/instance.ts');
  await instance();
}
