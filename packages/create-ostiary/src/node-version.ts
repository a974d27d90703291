/**
 * Returns an error text if Node is older than 22.18, the first version of Node 22 that runs TypeScript without
 * a flag; `null` otherwise.
 */
export function nodeProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return null;
  return `create-ostiary: needs Node 22.18 or later, and this is Node ${version}; see https://nodejs.org/en/download\n`;
}
