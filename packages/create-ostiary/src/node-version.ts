/**
 * Returns an error text if Node does not run TypeScript without a flag, as Node 22 does from 22.18 on and Node 23
 * from 23.6 on; `null` otherwise.
 */
export function nodeProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)) return null;
  return `create-ostiary: needs Node 22.18 or later, with Node 23 at least 23.6, and this is Node ${version}; see https://nodejs.org/en/download\n`;
}
