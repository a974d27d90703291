/** Returns the URL of a path below a configured URL, which may have its own path. */
export function urlBelow(base: URL, path: string): string {
  return base.origin + base.pathname.replace(/\/$/, '') + path;
}
