/** Oldest major version of Node that better-sqlite3 supports. On older versions it crashes the process. */
const oldestMajor = 22;

/** Throws if the version of Node is too old. Called before the driver is loaded. */
export function assertNodeVersion(version: string): void {
  if (Number.parseInt(version, 10) >= oldestMajor) return;
  throw new Error(
    `@ostiary/adapter-sqlite needs Node ${oldestMajor} or later and this is Node ${version}: upgrade Node`,
  );
}
